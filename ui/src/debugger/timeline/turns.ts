/** The turns of a conversation: the inputs on the way to a moment, and the other ones that were given at the same place. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";

type Listed = Pick<CheckpointView, "id" | "parent" | "source">;

export interface Turn {
  /** The checkpoint of the input. */
  readonly input: string;
  /** The moment at which it was given; absent for the first turn of a thread. */
  readonly at: string | undefined;
  /** The same turn of each branch, this one included, the oldest first: the end of the branch. */
  readonly branches: readonly string[];
  /** Its place among them, from 0. */
  readonly place: number;
}

/** The newest checkpoint that continues one, by always taking the newest child. */
function tipOf(id: string, newest: ReadonlyMap<string, string>): string {
  let at = id;
  for (let next = newest.get(at); next !== undefined; next = newest.get(at)) at = next;
  return at;
}

/** `list` is newest first; `path` is the way to the moment, the oldest first. */
export function turnsOf(list: readonly Listed[], path: readonly string[]): readonly Turn[] {
  const byId = new Map(list.map((checkpoint) => [checkpoint.id, checkpoint]));
  const newest = new Map<string, string>();
  const inputs = new Map<string, string[]>();
  for (const { id, parent, source } of list) {
    if (parent !== undefined && !newest.has(parent)) newest.set(parent, id);
    if (source !== "input" || parent === undefined) continue;
    inputs.set(parent, [id, ...(inputs.get(parent) ?? [])]);
  }
  return path.flatMap((id): Turn[] => {
    const checkpoint = byId.get(id);
    if (checkpoint?.source !== "input") return [];
    const { parent } = checkpoint;
    const same = parent === undefined ? [id] : (inputs.get(parent) ?? [id]);
    return [
      {
        input: id,
        at: parent,
        branches: same.map((one) => tipOf(one, newest)),
        place: same.indexOf(id),
      },
    ];
  });
}
