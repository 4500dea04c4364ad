/** What there is to choose from where a wire leaves a node that chooses: its ways, and what may be made of them. */
import type { GraphDocument } from "../document/document";
import { freeWay, type Leaving, portsOf } from "../document/ports";
import { END } from "../document/types";
import { t } from "../lib/texts";

interface Way {
  readonly id: string;
  readonly label: string;
  /** What is meant, for a wire that leads to a node, or is not dropped on one yet. */
  readonly leaving: (to: string | null) => Leaving;
}

/** The ways of a node, then the way for everything else, a new one, and the edge besides all of them. */
export function waysOf(doc: GraphDocument, node: string, to: string | null = null): Way[] {
  const { ports } = portsOf(doc, node);
  if (ports.length === 0) return [];
  const way = (id: string, label: string, leaving: Way["leaving"]): Way => ({ id, label, leaving });
  return [
    ...ports.map((port) => {
      const target = port.to === END ? t("canvas.end") : port.to;
      const label =
        target === null || port.to === to
          ? port.title
          : t("canvas.choice.leads", { label: port.title, to: target });
      return way(port.id, label, () => ({ way: "port", id: port.id }));
    }),
    ...(ports.some((port) => port.label === null)
      ? []
      : [way("else", t("canvas.choice.else"), () => ({ way: "else" }))]),
    way("new", t("canvas.choice.new"), (target) => ({
      way: "new",
      label: freeWay(doc, node, target === null || target === END ? t("canvas.choice.newLabel") : target),
    })),
    way("always", t("canvas.choice.always"), () => ({ way: "always" })),
  ];
}
