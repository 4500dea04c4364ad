/**
 * Big values, fetched when somebody opens them: lists by the hundred, texts by the page, anything else whole. Kept by
 * moment and key, so that going back and forth does not fetch twice.
 */
import { create } from "zustand";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import { rpc } from "../../ipc/client";
import { escapePointer } from "../parts/diff";
import type { Place } from "../model/snapshots";
import { asProblem } from "../parts/problem";
import type { LoadedValue } from "./state-rows";

const KEEP = 200;
const ITEMS = 100;
const CHARACTERS = 20_000;

export const useValues = create<{ readonly entries: ReadonlyMap<string, LoadedValue> }>()(() => ({
  entries: new Map(),
}));

/** The name under which a key's value at a moment is kept. "Now" may hold finished tasks of an open step, so its size counts too. */
export function valueId(place: Place, snapshot: SnapshotView, view: KeyView): string {
  const moment = `${place.threadId}/${snapshot.checkpoint?.id ?? ""}`;
  return place.checkpointId === null
    ? `${moment}/now/${view.value?.bytes ?? 0}/${view.value?.length ?? 0}/${view.key}`
    : `${moment}/${view.key}`;
}

function put(id: string, value: LoadedValue): void {
  const entries = new Map(useValues.getState().entries);
  entries.delete(id);
  entries.set(id, value);
  for (const old of entries.keys()) {
    if (entries.size <= KEEP) break;
    entries.delete(old);
  }
  useValues.setState({ entries });
}

/** Where the end of a list that gained items is kept. */
export const tailId = (id: string): string => `${id}#tail`;

/** Fetches the last `items` of a list: what it gained. */
export async function loadTail(
  place: Place,
  snapshot: SnapshotView,
  view: KeyView,
  items: number,
): Promise<void> {
  const length = view.value?.length;
  if (length === undefined) return;
  const id = tailId(valueId(place, snapshot, view));
  if (useValues.getState().entries.has(id)) return;
  put(id, { value: undefined, complete: false, loading: true });
  try {
    const answer = await rpc("thread.value", {
      threadId: place.threadId,
      ...(place.checkpointId !== null && { checkpointId: place.checkpointId }),
      pointer: `/${escapePointer(view.key)}`,
      offset: length - items,
      limit: items,
    });
    put(id, { value: answer.value as unknown, complete: true, loading: false });
  } catch (problem) {
    put(id, { value: undefined, complete: false, loading: false, problem: asProblem(problem).message });
  }
}

/** Fetches the first part of a value, the next part, or all of it. Answers what is there afterwards. */
export async function loadValue(
  place: Place,
  snapshot: SnapshotView,
  view: KeyView,
  amount: "more" | "all" = "more",
): Promise<LoadedValue | undefined> {
  const summary = view.value;
  if (!summary) return undefined;
  const id = valueId(place, snapshot, view);
  const have = useValues.getState().entries.get(id);
  if (have?.loading || have?.complete) return have;
  const partial = amount === "more" && (summary.kind === "array" || summary.kind === "string");
  const offset = partial && have?.value !== undefined ? (have.value as unknown[] | string).length : 0;
  const limit = partial ? (summary.kind === "array" ? ITEMS : CHARACTERS) : 0;
  put(id, { value: have?.value, complete: false, loading: true });
  try {
    const answer = await rpc("thread.value", {
      threadId: place.threadId,
      ...(place.checkpointId !== null && { checkpointId: place.checkpointId }),
      pointer: `/${escapePointer(view.key)}`,
      offset,
      limit,
    });
    const part: unknown = answer.value ?? null;
    let value = part;
    if (offset > 0 && Array.isArray(have?.value) && Array.isArray(part))
      value = [...(have.value as unknown[]), ...part];
    if (offset > 0 && typeof have?.value === "string" && typeof part === "string") value = have.value + part;
    const size = Array.isArray(value) ? value.length : typeof value === "string" ? [...value].length : 0;
    const gained = Array.isArray(part) || typeof part === "string" ? part.length : 1;
    const loaded: LoadedValue = {
      value,
      complete: !partial || size >= summary.length || gained === 0,
      loading: false,
    };
    put(id, loaded);
    return loaded;
  } catch (problem) {
    const { message } = asProblem(problem);
    const failed: LoadedValue = { value: have?.value, complete: false, loading: false, problem: message };
    put(id, failed);
    return failed;
  }
}
