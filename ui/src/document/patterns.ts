/** Several nodes at once, from a graph that shows how something is done: with their edges and the state keys they need. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { PatchOp } from "../ipc/bindings/PatchOp";
import type { GraphDocument } from "./document";
import { CLIP_FORMAT, pasteClip } from "./clip";
import type { Point } from "./edits";
import type { Patch } from "./patch";
import { END, isObject, positionOf, START, type Json } from "./types";

interface GraphRecord {
  readonly id: string;
  readonly value: Json;
}

/**
 * Puts a graph into another one. An empty document takes its ends and its sample inputs too and stands as it was drawn,
 * from where the start is; otherwise the nodes go to a free place and wait to be connected. Keys that are there are kept.
 */
export function addPattern(
  doc: GraphDocument,
  records: readonly GraphRecord[],
  free: Point,
  start: Point,
  kinds: readonly NodeKind[],
): { patch: Patch; names: string[] } {
  const of = (section: string): [string, Json][] =>
    records
      .filter((record) => record.id.startsWith(`${section}:`))
      .map((record) => [record.id.slice(section.length + 1), record.value]);
  const layout = Object.fromEntries(of("layout"));
  const nodes = Object.fromEntries(of("node"));
  const empty = doc.names("node").length === 0;
  const ops: PatchOp[] = of("key")
    .filter(([name]) => !doc.has(`key:${name}`))
    .map(([name, value]) => ({ id: `key:${name}`, from: null, to: value }));

  let place = free;
  const own = positionOf(layout[START]);
  if (empty && own) {
    const spots = Object.keys(nodes).flatMap((name) => positionOf(layout[name]) ?? []);
    place = {
      x: start.x + Math.min(...spots.map((spot) => spot.x)) - own.x,
      y: start.y + Math.min(...spots.map((spot) => spot.y)) - own.y,
    };
    const put = (name: string, at: Point) =>
      ops.push({
        id: `layout:${name}`,
        from: doc.get(`layout:${name}`) ?? null,
        to: [Math.round(at.x), Math.round(at.y)],
      });
    put(START, start);
    const end = positionOf(layout[END]);
    if (end) put(END, { x: start.x + end.x - own.x, y: start.y + end.y - own.y });
  }
  if (empty) {
    const head = doc.get("doc");
    const given = records.find((record) => record.id === "doc")?.value;
    // What a run of it begins with: its context, with the values under names that belong to it, and sample inputs.
    const declared = isObject(head) && head["context"] !== undefined;
    const fields = declared ? ["examples"] : ["context", "context_sets", "examples"];
    const coming = fields.flatMap((field): [string, Json][] => {
      const value = isObject(given) ? given[field] : undefined;
      return value === undefined || !isObject(head) || head[field] !== undefined ? [] : [[field, value]];
    });
    if (isObject(head) && coming.length > 0)
      ops.push({ id: "doc", from: head, to: { ...head, ...Object.fromEntries(coming) } });
  }
  const clip = { format: CLIP_FORMAT, nodes, edges: of("edge").map(([, value]) => value), layout } as const;
  const pasted = pasteClip(doc, clip, place, kinds, { ends: empty ? [START, END] : [] });
  return { patch: { ops: [...ops, ...pasted.patch.ops] }, names: pasted.names };
}
