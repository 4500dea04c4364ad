/** Matches and uses as rows: by graph, by record, each with the text around it. Plain values, so that they are tested. */
import type { Use, UseRole } from "../../document/uses";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import type { FoundFile } from "../../ipc/bindings/FoundFile";
import { placeOf, type Where } from "./places";

export type NodeFilter = "any" | "invalid" | "unused" | "changed" | "disabled" | "notes";

export interface Filters {
  readonly where: Where | "any";
  readonly nodes: NodeFilter;
  readonly kind: string | null;
}

export const NO_FILTERS: Filters = { where: "any", nodes: "any", kind: null };

/** The graph that a row is in: open, by its id, or a file. */
export interface RowGraph {
  readonly graphId: string | null;
  readonly path: string | null;
}

/** A place to go to. */
export interface Hit extends RowGraph {
  readonly record: string;
  readonly pointer: string | null;
  readonly kind: string | undefined;
  readonly disabled: boolean;
  readonly label: string;
  readonly where: Where;
  /** The line around the match; a node that was only filtered for has none. */
  readonly shown: { readonly before: string; readonly text: string; readonly after: string } | null;
  readonly line: number;
  readonly replaced: string | null;
  /** A name, which is renamed and not replaced. */
  readonly named: boolean;
  readonly index: number;
  readonly role: UseRole | null;
}

export type Row =
  | { readonly kind: "file"; readonly id: string; readonly file: FoundFile; readonly hits: readonly Hit[] }
  | { readonly kind: "record"; readonly id: string; readonly hits: readonly Hit[] }
  | { readonly kind: "hit"; readonly id: string; readonly hit: Hit };

export interface Around {
  readonly kinds: readonly NodeKind[];
  /** The graph that is shown. */
  readonly graphId: string | null;
  /** Is there a problem with this record of it? */
  readonly isInvalid: (record: string) => boolean;
  /** Does no run come to it? */
  readonly isUnused: (record: string) => boolean;
  /** Is it another one than in the last commit? */
  readonly isChanged: (record: string) => boolean;
}

/** Does a hit pass the filters? Problems and changes are known of the graph that is shown only. */
export function passes(hit: Hit, { where, nodes, kind }: Filters, around: Around): boolean {
  if (where !== "any" && hit.where !== where) return false;
  if (kind !== null && hit.kind !== kind) return false;
  if (nodes === "any") return true;
  if (nodes === "disabled") return hit.disabled;
  if (nodes === "notes") return hit.kind === "note";
  if (hit.graphId !== around.graphId) return false;
  if (nodes === "unused") return around.isUnused(hit.record);
  return nodes === "changed" ? around.isChanged(hit.record) : around.isInvalid(hit.record);
}

/** The hits of found graphs, in their order. */
function hitsOf(file: FoundFile, kinds: readonly NodeKind[]): Hit[] {
  return file.matches.map((match) => {
    const { record, kind, line, index } = match;
    const pointer = match.pointer ?? null;
    const { label, where } = placeOf({ record, pointer, kind }, kinds);
    return {
      graphId: file.graphId ?? null,
      path: file.path ?? null,
      record,
      pointer,
      kind,
      disabled: match.disabled === true,
      label,
      where,
      shown: { before: match.before.trimStart(), text: match.text, after: match.after },
      line,
      replaced: match.replaced ?? null,
      named: match.named === true,
      index,
      role: null,
    };
  });
}

const CONTEXT = 80;

/** The line of a text around a use. */
export function lineAround(text: string, from: number, to: number) {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const newline = text.indexOf("\n", to);
  const end = newline < 0 ? text.length : newline;
  return {
    before: text.slice(Math.max(start, from - CONTEXT), from).trimStart(),
    text: text.slice(from, to),
    after: text.slice(to, Math.min(end, to + CONTEXT)),
    line: text.slice(0, from).split("\n").length,
  };
}

/** Uses as hits of the graph that is shown. */
export function hitsOfUses(
  uses: readonly Use[],
  graph: RowGraph,
  kindOf: (record: string) => string | undefined,
  kinds: readonly NodeKind[],
): Hit[] {
  return uses.map((use, index) => {
    const { record, pointer, role, at, text } = use;
    const kind = kindOf(record);
    const { label, where } = placeOf({ record, pointer, kind }, kinds);
    const line = at ? lineAround(text, at.from, at.to) : { before: "", text, after: "", line: 1 };
    return {
      ...graph,
      record,
      pointer,
      kind,
      disabled: false,
      label,
      where,
      shown: line,
      line: line.line,
      replaced: null,
      named: false,
      index,
      role,
    };
  });
}

/** Rows of one graph: its records in the order of the hits, each with its hits. */
function recordRows(hits: readonly Hit[], file: string): Row[] {
  const byRecord = new Map<string, Hit[]>();
  for (const hit of hits) {
    const list = byRecord.get(hit.record);
    if (list) list.push(hit);
    else byRecord.set(hit.record, [hit]);
  }
  return [...byRecord].flatMap(([record, list]): Row[] => [
    { kind: "record", id: `${file}|${record}`, hits: list },
    ...list
      .filter(({ shown }) => shown !== null)
      .map((hit): Row => ({
        kind: "hit",
        id: `${file}|${record}|${hit.pointer ?? ""}|${hit.index}`,
        hit,
      })),
  ]);
}

export function rowsOfUses(hits: readonly Hit[]): Row[] {
  return recordRows(hits, "uses");
}

export function foundRows(files: readonly FoundFile[], filters: Filters, around: Around): Row[] {
  return files.flatMap((file): Row[] => {
    const hits = hitsOf(file, around.kinds).filter((hit) => passes(hit, filters, around));
    if (hits.length === 0) return [];
    const id = file.graphId ?? file.path ?? "";
    const only = files.length === 1 && file.graphId === around.graphId;
    return [
      ...(only ? [] : [{ kind: "file", id: `file|${id}`, file, hits } as const]),
      ...recordRows(hits, id),
    ];
  });
}

/** Nodes that pass the filters, for a search without a text. */
export function nodeHits(
  nodes: readonly { readonly name: string; readonly kind: string; readonly disabled: boolean }[],
  graph: RowGraph,
): Hit[] {
  return nodes.map(({ name, kind, disabled }) => ({
    ...graph,
    record: `node:${name}`,
    pointer: null,
    kind,
    disabled,
    label: "",
    where: "names",
    shown: null,
    line: 1,
    replaced: null,
    named: true,
    index: 0,
    role: null,
  }));
}

export const hitsIn = (rows: readonly Row[]): Hit[] =>
  rows.flatMap((row) => (row.kind === "hit" ? [row.hit] : []));
