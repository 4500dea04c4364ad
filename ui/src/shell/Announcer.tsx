/** What screen readers say of the canvas: what was selected, and whether it runs. The status of a run speaks for itself. */
import { useEffect, useState } from "react";
import { kindOf } from "../canvas/kinds";
import { readOverlay } from "../debugger/overlay/overlay";
import { errorNode, errorTarget } from "../document/error-ways";
import { disabledOf } from "../document/disabled";
import { doc } from "../document/store";
import { edgeOf, END, nodeOf, START } from "../document/types";
import { structureIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { useSession, type Selection } from "../state/session";

/** Arrow keys run through nodes faster than they can be spoken. */
const PAUSE_MS = 250;

const nameOf = (name: string) => (name === START ? t("canvas.start") : name === END ? t("canvas.end") : name);

/** One sentence about a selection; empty when nothing is selected. */
function announcement({ nodes, edges }: Pick<Selection, "nodes" | "edges">): string {
  const [node] = nodes;
  const [edge] = edges;
  if (nodes.length + edges.length > 1)
    return [
      nodes.length > 0 && tn("forms.many.node", "forms.many.nodes", nodes.length),
      edges.length > 0 && tn("forms.many.edge", "forms.many.edges", edges.length),
    ]
      .filter((part) => part !== false)
      .join(", ");
  if (node !== undefined) {
    const record = doc.get(`node:${node}`);
    const { kind } = nodeOf(record);
    const state = readOverlay().nodes.get(node)?.state ?? "idle";
    const parts = [
      nameOf(node),
      kindOf(kind)?.title ?? kind,
      disabledOf(record) === null ? "" : t("disabled.badge"),
      state === "idle" ? "" : t(`canvas.state.${state}`),
    ];
    return parts.filter((part) => part !== "").join(", ");
  }
  if (edge === undefined) return "";
  const failing = errorNode(doc, edge);
  if (failing !== null)
    return t("canvas.announce.error", { from: failing, to: nameOf(errorTarget(doc, edge) ?? "") });
  const view = edgeOf(doc.get(`edge:${edge}`));
  return t("canvas.announce.edge", {
    from: view.sources.map(nameOf).join(", "),
    to: view.targets.map(nameOf).join(", "),
  });
}

export function Announcer() {
  const selection = useSession((state) => state.selection);
  const [announced, say] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => say(announcement(selection)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [selection]);
  return (
    <p className="sr-only" aria-live="polite" data-testid={structureIds.announcer}>
      {announced}
    </p>
  );
}
