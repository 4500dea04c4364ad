/**
 * The rows of the outline: each node with the edges that leave it, its ways that lead nowhere yet, and the nodes of the
 * graph that it runs, where that is expanded in place.
 */
import type { GraphDocument } from "../../document/document";
import { same } from "../../document/patch";
import { declaredWays, portsOf, type Ports } from "../../document/ports";
import { edgeOf, END, START, type EdgePath, type EdgeView } from "../../document/types";
import { listed } from "../../lib/intl";
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
  readonly from: string;
  readonly edge: string;
  readonly part: string;
  readonly target: string;
  readonly mark: string;
  readonly level: 2;
};
/** A way of a node that leads nowhere yet. */
type WayRow = Place & {
  readonly kind: "way";
  readonly node: string;
  readonly port: string;
  readonly mark: string;
  readonly level: 2;
};
/** A node of the graph that a node runs. */
type InsideRow = Place & {
  readonly kind: "inside";
  readonly node: string;
  readonly name: string;
  /** The kind of that node. */
  readonly does: string;
  readonly level: 2;
};
export type Row = NodeRow | EdgeRow | WayRow | InsideRow;

/** Names and kinds of the nodes of a graph that is expanded in place, by the node that runs it. */
export type Insides = ReadonlyMap<string, readonly { readonly name: string; readonly does: string }[]>;
const NO_INSIDES: Insides = new Map();

export const nodeText = (name: string) =>
  name === START ? t("forms.start") : name === END ? t("forms.end") : name;

/** The rows of a document as it changes: the same list until something that they show is another one. */
export class Outline {
  readonly #doc: GraphDocument;
  #rows: readonly Row[] | null = null;
  #insides = NO_INSIDES;
  /** The document's version that was read or followed last. */
  #version = -1;
  /** Of each node what its rows show. */
  readonly #ports = new Map<string, Ports>();

  constructor(doc: GraphDocument) {
    this.#doc = doc;
  }

  /** Follows the document. Answers how to stop. */
  follow(): () => void {
    return this.#doc.watch((changed) => {
      if (this.#rows === null) return;
      if (changed === null || [...changed].some((id) => this.#shows(id))) this.#rows = null;
      else this.#version = this.#doc.version;
    });
  }

  /** Is it another one than its row says, or none any more? Where nodes stand is not shown, and neither are most settings. */
  #shows(id: string): boolean {
    if (id.startsWith("layout:") || id === "ids:layout") return false;
    if (!id.startsWith("node:") || !this.#doc.has(id)) return true;
    const name = id.slice("node:".length);
    const before = this.#ports.get(name);
    return before === undefined || !same(before, portsOf(this.#doc, name));
  }

  rows(insides = NO_INSIDES): readonly Row[] {
    const { version } = this.#doc;
    if (this.#rows === null || this.#insides !== insides || this.#version !== version) {
      this.#ports.clear();
      this.#rows = rowsOf(this.#doc, insides, this.#ports);
      this.#insides = insides;
      this.#version = version;
    }
    return this.#rows;
  }
}

/**
 * The rows in the order in which a run could visit them: from the start along the edges, then what cannot be reached.
 * Fills `portsByNode`.
 */
export function rowsOf(
  doc: GraphDocument,
  insides = NO_INSIDES,
  portsByNode = new Map<string, Ports>(),
): Row[] {
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
  // An edge that was changed comes last in the index, and keeps its place in the file.
  let places: ReadonlyMap<string, number> | null = null;
  const inOrder = (one: string, other: string) => {
    places ??= new Map(doc.names("edge").map((edge, at) => [edge, at]));
    return (places.get(one) ?? 0) - (places.get(other) ?? 0);
  };
  order.forEach((name, index) => {
    rows.push({ kind: "node", id: `node:${name}`, name, level: 1, at: index + 1, of: order.length });
    const edges = doc
      .edgesFrom(name)
      .sort(inOrder)
      .flatMap((edge) => {
        const view = edgeOf(doc.get(`edge:${edge}`));
        return view.paths
          .filter((path) => path.from === name)
          .map((path) => ({
            edge,
            from: name,
            part: path.part,
            target: path.to,
            mark: markOf(view, path, name),
          }));
      });
    const ports = portsOf(doc, name);
    portsByNode.set(name, ports);
    const { error } = ports;
    if (error !== null && error.edge !== null && error.to !== null)
      edges.push({ edge: error.edge, from: name, part: "", target: error.to, mark: error.title });
    const open =
      declaredWays(doc.get(`node:${name}`)).length === 0
        ? []
        : ports.ports.filter((port) => port.to === null);
    const inside = insides.get(name) ?? [];
    const of = edges.length + open.length + inside.length;
    edges.forEach((each, at) =>
      rows.push({
        kind: "edge",
        id: `edge:${each.edge}:${each.part}`,
        ...each,
        level: 2,
        at: at + 1,
        of,
      }),
    );
    open.forEach((port, at) =>
      rows.push({
        kind: "way",
        id: `way:${name}:${port.id}`,
        node: name,
        port: port.id,
        mark: port.title,
        level: 2,
        at: edges.length + at + 1,
        of,
      }),
    );
    inside.forEach((each, at) =>
      rows.push({
        kind: "inside",
        id: `inside:${name}:${each.name}`,
        node: name,
        ...each,
        level: 2,
        at: edges.length + open.length + at + 1,
        of,
      }),
    );
  });
  return rows;
}

/** The way of its node that an edge row is; null where no name can be given to it. */
export function wayOf(doc: GraphDocument, row: Row): { node: string; port: string; title: string } | null {
  if (row.kind === "node" || row.kind === "inside") return null;
  const node = row.kind === "way" ? row.node : row.from;
  const port = portsOf(doc, node).ports.find((each) =>
    row.kind === "way" ? each.id === row.port : each.edge === row.edge && each.part === row.part,
  );
  return port === undefined || port.label === null ? null : { node, port: port.id, title: port.title };
}

/** What stands behind the target: a label, a condition, what a join waits for. */
function markOf(view: EdgeView, path: EdgePath, from: string): string {
  switch (view.form) {
    case "route":
      return path.label ?? t("canvas.line.else");
    case "when":
      return view.expression ?? "";
    case "each":
      return t("canvas.line.each", { items: view.expression ?? "" });
    case "join":
      return t("forms.outline.join", { others: listed(view.sources.filter((other) => other !== from)) });
    default:
      return "";
  }
}
