/** Differences grouped by state key, for the tree of the comparison. Pure. */
import type { Difference } from "../../ipc/bindings/Difference";
import { pointerParts } from "../../debugger/diff";

export interface DifferenceGroup {
  readonly key: string;
  readonly differences: readonly Difference[];
}

export function groupDifferences(differences: readonly Difference[]): DifferenceGroup[] {
  const groups = new Map<string, Difference[]>();
  for (const difference of differences) {
    const key = pointerParts(difference.pointer)[0] ?? "";
    const group = groups.get(key);
    if (group) group.push(difference);
    else groups.set(key, [difference]);
  }
  return [...groups].map(([key, list]) => ({ key, differences: list }));
}

/** The path inside its key, as a JSON Pointer. */
export function insideKey(pointer: string): string {
  const end = pointer.indexOf("/", 1);
  return end < 0 ? "" : pointer.slice(end);
}
