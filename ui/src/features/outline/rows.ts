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

/** What stands below a node. */
interface Below {
  readonly ports: Ports;
  /** Nodes that its edges lead to, in the order of the file. */
  readonly targets: readonly string[];
  readonly rows: readonly (EdgeRow | WayRow | InsideRow)[];
}

/** The rows of a document as it changes: the same list until something that they show is another one. */
export class Outline {
  readonly #doc: GraphDocument;
  #rows: readonly Row[] | null = null;
  /** Places of the rows by their ids. */
  #places: ReadonlyMap<string, number> | null = null;
  #insides = NO_INSIDES;
  /** The document's version that was read or followed last. */
  #version = -1;
  /** What stands below each node, until it is another. */
  readonly #below = new Map<string, Below>();
  /** The nodes that an edge is listed below. */
  readonly #listed = new Map<string, readonly string[]>();

  constructor(doc: GraphDocument) {
    this.#doc = doc;
  }

  /** Follows the document. Answers how to stop. */
  follow(): () => void {
    this.#catchUp();
    return this.#doc.watch((changed) => {
      if (changed === null) return this.#catchUp();
      const shown = [...changed].filter((id) => this.#shows(id));
      for (const id of shown) this.#forget(id);
      if (shown.length > 0) this.#rows = null;
      this.#version = this.#doc.version;
    });
  }

  /** Forgets everything when the document has changed in what was not followed. */
  #catchUp(): void {
    if (this.#version === this.#doc.version) return;
    this.#below.clear();
    this.#listed.clear();
    this.#rows = null;
    this.#version = this.#doc.version;
  }

  /** Is it another one than its row says, or none any more? Where nodes stand is not shown, and neither are most settings. */
  #shows(id: string): boolean {
    if (id.startsWith("layout:") || id === "ids:layout") return false;
    if (!id.startsWith("node:") || !this.#doc.has(id)) return true;
    const name = id.slice("node:".length);
    const before = this.#below.get(name);
    return before === undefined || !same(before.ports, portsOf(this.#doc, name));
  }

  #forget(id: string): void {
    const [section, name] = [id.slice(0, id.indexOf(":")), id.slice(id.indexOf(":") + 1)];
    if (section === "node") this.#below.delete(name);
    if (section !== "edge") return;
    const record = this.#doc.get(id);
    const sources = record === undefined ? [] : edgeOf(record).sources;
    for (const node of [...(this.#listed.get(name) ?? []), ...sources]) this.#below.delete(node);
    this.#listed.delete(name);
  }

  rows(insides = NO_INSIDES): readonly Row[] {
    if (this.#insides !== insides) this.#version = -1;
    this.#insides = insides;
    this.#catchUp();
    if (this.#rows === null) {
      this.#rows = rowsOf(this.#doc, (name, read) => this.#belowOf(name, read), insides);
      this.#places = null;
    }
    return this.#rows;
  }

  #belowOf(name: string, read: () => Below): Below {
    let below = this.#below.get(name);
    if (below === undefined) {
      below = read();
      this.#below.set(name, below);
      for (const row of below.rows) {
        if (row.kind !== "edge") continue;
        const nodes = this.#listed.get(row.edge) ?? [];
        if (!nodes.includes(name)) this.#listed.set(row.edge, [...nodes, name]);
      }
    }
    return below;
  }

  /** Where a row is in the list that was answered last; undefined when it is not in it. */
  placeOf(id: string): number | undefined {
    this.#places ??= new Map(this.#rows?.map((row, index) => [row.id, index]));
    return this.#places.get(id);
  }
}

/**
 * The rows in the order in which a run could visit them: from the start along the edges, then what cannot be reached.
 * `belowOf` may answer what was read of a node before.
 */
export function rowsOf(
  doc: GraphDocument,
  belowOf: (name: string, read: () => Below) => Below = (_, read) => read(),
  insides = NO_INSIDES,
): Row[] {
  // An edge that was changed comes last in the index, and keeps its place in the file.
  let places: ReadonlyMap<string, number> | null = null;
  const inOrder = (one: string, other: string) => {
    places ??= new Map(doc.names("edge").map((edge, at) => [edge, at]));
    return (places.get(one) ?? 0) - (places.get(other) ?? 0);
  };
  const below = new Map<string, Below>();
  const visit = (name: string) => {
    if (below.has(name) || (name !== START && !doc.has(`node:${name}`))) return;
    below.set(
      name,
      belowOf(name, () => readBelow(doc, name, inOrder, insides)),
    );
  };
  visit(START);
  // A map goes on to what is added to it while it is walked.
  for (const { targets } of below.values()) for (const target of targets) if (target !== END) visit(target);
  for (const name of doc.names("node")) visit(name);
  const rows: Row[] = [];
  let at = 0;
  for (const [name, { rows: those }] of below) {
    at += 1;
    rows.push({ kind: "node", id: `node:${name}`, name, level: 1, at, of: below.size });
    for (const row of those) rows.push(row);
  }
  return rows;
}

function readBelow(
  doc: GraphDocument,
  name: string,
  inOrder: (one: string, other: string) => number,
  insides: Insides,
): Below {
  const views = doc
    .edgesFrom(name)
    .sort(inOrder)
    .map((edge) => ({ edge, view: edgeOf(doc.get(`edge:${edge}`)) }));
  const edges = views.flatMap(({ edge, view }) =>
    view.paths
      .filter((path) => path.from === name)
      .map((path) => ({
        edge,
        from: name,
        part: path.part,
        target: path.to,
        mark: markOf(view, path, name),
      })),
  );
  const ports = portsOf(doc, name);
  const { error } = ports;
  if (error !== null && error.edge !== null && error.to !== null)
    edges.push({ edge: error.edge, from: name, part: "", target: error.to, mark: error.title });
  const open =
    declaredWays(doc.get(`node:${name}`)).length === 0 ? [] : ports.ports.filter((port) => port.to === null);
  const inside = insides.get(name) ?? [];
  const of = edges.length + open.length + inside.length;
  return {
    ports,
    targets: views.flatMap(({ view }) => view.targets),
    rows: [
      ...edges.map((each, at): EdgeRow => ({
        kind: "edge",
        id: `edge:${each.edge}:${each.part}`,
        ...each,
        level: 2,
        at: at + 1,
        of,
      })),
      ...open.map((port, at): WayRow => ({
        kind: "way",
        id: `way:${name}:${port.id}`,
        node: name,
        port: port.id,
        mark: port.title,
        level: 2,
        at: edges.length + at + 1,
        of,
      })),
      ...inside.map((each, at): InsideRow => ({
        kind: "inside",
        id: `inside:${name}:${each.name}`,
        node: name,
        ...each,
        level: 2,
        at: edges.length + open.length + at + 1,
        of,
      })),
    ],
  };
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
    case "limit":
      return t("canvas.line.limit");
    case "join":
      return t("forms.outline.join", { others: listed(view.sources.filter((other) => other !== from)) });
    default:
      return "";
  }
}
