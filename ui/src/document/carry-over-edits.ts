/**
 * What to do to the host's copy of a document, opened again after the host was away, so that no edit made here is lost:
 * records that were changed here since the file was written count as they are here, all others as the host has them.
 */
import type { DocumentRecord } from "./document";
import { same, type Patch, type PatchOp } from "./patch";

export interface Carried {
  /** From the host's records to those that shall be. */
  readonly patch: Patch;
  /** Records that are another at the host and were not changed here: they have to be read again. */
  readonly foreign: readonly string[];
}

export function carryOver(
  host: readonly DocumentRecord[],
  mine: readonly DocumentRecord[],
  touched: ReadonlySet<string>,
): Carried {
  const theirs = new Map(host.map((record) => [record.id, record.value]));
  const ours = new Map(mine.map((record) => [record.id, record.value]));
  const ops: PatchOp[] = [];
  const foreign: string[] = [];
  // What names something is removed before what is named.
  for (const { id, value } of host.toReversed()) {
    if (ours.has(id)) continue;
    if (touched.has(id)) ops.push({ id, from: value, to: null });
    else foreign.push(id);
  }
  const places = new Map<string, number>();
  for (const { id, value } of mine) {
    const section = id.split(":", 1)[0] ?? id;
    const at = places.get(section) ?? 0;
    places.set(section, at + 1);
    const was = theirs.get(id);
    if (was !== undefined && same(was, value)) continue;
    if (!touched.has(id)) foreign.push(id);
    else if (was === undefined) ops.push({ id, from: null, to: value, at });
    else ops.push({ id, from: was, to: value });
  }
  return { patch: { ops }, foreign };
}
