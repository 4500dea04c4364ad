/** The rows of the outline: each node with the edges that leave it. */
import type { GraphDocument } from "../../document/document";
import { edgeOf, END, START, type EdgePath, type EdgeView } from "../../document/types";
import { t } from "../../lib/texts";

interface Place {
  readonly id: string;
  /** Its place among the rows beside it, from 1, and their number. */
  readonly at: number;
  readonly of: number;
}

export type NodeRow = Place & { readonly kind: "node"; readonly name: string; readonly level: 1 };
type EdgeRow = Place & {
  readonly kind: "edge";
  readonly edge: string;
  readonly part: string;
  readonly target: string;
  readonly mark: string;
  readonly level: 2;
};
export type Row = NodeRow | EdgeRow;

export const nodeText = (name: string) =>
  name === START ? t("forms.start") : name === END ? t("forms.end") : name;

/** The rows in the order in which a run could visit them: from the start along the edges, then what cannot be reached. */
export function rowsOf(doc: GraphDocument): Row[] {
  const order: string[] = [];
  const seen = new Set<string>();
  const queue = [START];
  const visit = (name: string) => {
    if (seen.has(name) || (name !== START && name !== END && !doc.has(`node:${name}`))) return;
    seen.add(name);
    order.push(name);
  };
  visit(START);
  for (let at = 0; at < queue.length; at += 1) {
    for (const edge of doc.edgesFrom(queue[at]!)) {
      for (const target of edgeOf(doc.get(`edge:${edge}`)).targets) {
        if (seen.has(target) || target === END) continue;
        visit(target);
        queue.push(target);
      }
    }
  }
  for (const name of doc.names("node")) visit(name);
  const rows: Row[] = [];
  order.forEach((name, index) => {
    rows.push({ kind: "node", id: `node:${name}`, name, level: 1, at: index + 1, of: order.length });
    const edges = doc.edgesFrom(name).flatMap((edge) => {
      const view = edgeOf(doc.get(`edge:${edge}`));
      return view.paths
        .filter((path) => path.from === name)
        .map((path) => ({ edge, part: path.part, target: path.to, mark: markOf(view, path, name) }));
    });
    edges.forEach((each, at) =>
      rows.push({
        kind: "edge",
        id: `edge:${each.edge}:${each.part}`,
        ...each,
        level: 2,
        at: at + 1,
        of: edges.length,
      }),
    );
  });
  return rows;
}

/** What stands behind the target: a label, a condition, what a join waits for. */
function markOf(view: EdgeView, path: EdgePath, from: string): string {
  switch (view.form) {
    case "route":
      return path.label ?? t("forms.outline.default");
    case "when":
      return view.expression ?? "";
    case "each":
      return `${t("forms.outline.each")} ${view.expression ?? ""}`;
    case "join":
      return t("forms.outline.join", { others: view.sources.filter((other) => other !== from).join(", ") });
    default:
      return "";
  }
}
