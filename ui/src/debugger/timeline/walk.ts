/** Walking the checkpoints of a thread along one branch; "now" is what comes after the newest. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { useSession } from "../../state/session";
import { branchThrough } from "./lanes";
import { loadCheckpoints, loadOlderCheckpoints } from "../model/checkpoints";
import { useRuns } from "../model/runStore";

/** The branch that the cursor walks along. */
export interface Track {
  /** Oldest first. */
  readonly branch: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  readonly byId: ReadonlyMap<string, CheckpointView>;
}

const NOWHERE: Track = { branch: [], places: new Map(), byId: new Map() };
let last: { readonly list: readonly CheckpointView[]; readonly track: Track } = { list: [], track: NOWHERE };

/**
 * The branch through a checkpoint. One that was walked before is gone on with as long as the checkpoint is on it: back
 * behind a fork and forward again leads where one came from, and a held key costs nothing however long the thread is.
 */
export function trackOf(list: readonly CheckpointView[], through: string | undefined): Track {
  if (through === undefined) return NOWHERE;
  if (last.list === list && last.track.places.has(through)) return last.track;
  const tip = last.track.branch.at(-1);
  const known = tip !== undefined && last.track.places.has(through) ? branchThrough(list, tip) : [];
  const branch = known.includes(through) ? known : branchThrough(list, through);
  const byId =
    last.list === list ? last.track.byId : new Map(list.map((checkpoint) => [checkpoint.id, checkpoint]));
  const track = { branch, places: new Map(branch.map((id, at) => [id, at])), byId };
  last = { list, track };
  return track;
}

/** What a checkpoint is to the moment that is shown. */
export interface Way {
  /** It is on the way there, or it is the moment. */
  has(id: string): boolean;
  /** It comes after it on this branch. */
  after(id: string): boolean;
}

/** The way to a checkpoint of a track. */
export function wayOn({ places }: Track, id: string | undefined): Way {
  const at = (id === undefined ? undefined : places.get(id)) ?? -1;
  return {
    has: (each) => (places.get(each) ?? Infinity) <= at,
    after: (each) => (places.get(each) ?? -1) > at,
  };
}

/** The track of the cursor, and its place on it. */
export function trackNow(): Track & { readonly at: number } {
  const { cursor } = useSession.getState();
  const list =
    cursor.threadId === null ? undefined : useRuns.getState().checkpoints.get(cursor.threadId)?.list;
  const at = cursor.checkpointId ?? list?.[0]?.id;
  const track = list ? trackOf(list, at) : NOWHERE;
  return { ...track, at: at === undefined ? -1 : (track.places.get(at) ?? -1) };
}

const currentBranch = (): readonly string[] => trackNow().branch;

/** The checkpoint at a distance of steps from the cursor on its branch: an id, null for now, undefined when there is none. */
export function neighbour(by: number): string | null | undefined {
  const { cursor } = useSession.getState();
  const { branch, at } = trackNow();
  if (at < 0) return undefined;
  // "Now" shows the newest checkpoint, with what is being worked on.
  const newest = useRuns.getState().checkpoints.get(cursor.threadId ?? "")?.list[0]?.id;
  const to = Math.max(0, Math.min(branch.length - 1, at + by));
  const id = branch[to];
  if (id === undefined) return undefined;
  return id === newest ? null : id;
}

const here = (): { threadId: string; list: readonly CheckpointView[] } | null => {
  const { threadId } = useSession.getState().cursor;
  const list = threadId === null ? undefined : useRuns.getState().checkpoints.get(threadId)?.list;
  return threadId === null || !list ? null : { threadId, list };
};

/** The next place of a branch at which something holds, from a place on. */
export function nextAt(
  branch: readonly string[],
  from: number,
  by: -1 | 1,
  holds: (id: string) => boolean,
): string | undefined {
  for (let at = from + by; at >= 0 && at < branch.length; at += by) {
    const id = branch[at];
    if (id !== undefined && holds(id)) return id;
  }
  return undefined;
}

function walkTo(by: -1 | 1, holds: (checkpoint: CheckpointView) => boolean): string | null | undefined {
  const known = here();
  if (!known) return undefined;
  const { branch, byId, at } = trackNow();
  const found = nextAt(branch, at, by, (id) => {
    const checkpoint = byId.get(id);
    return checkpoint !== undefined && holds(checkpoint);
  });
  return found === known.list[0]?.id ? null : found;
}

/** The moment before an earlier (-1) or later (1) visit of a node. */
export const visitOf = (node: string, by: -1 | 1): string | null | undefined =>
  walkTo(by, (checkpoint) => checkpoint.next.includes(node));

/** The moment after an earlier (-1) or later (1) write of a key. */
export const writeOf = (key: string, by: -1 | 1): string | null | undefined =>
  walkTo(by, (checkpoint) => checkpoint.updated.includes(key));

/** The first moment of the branch of the cursor; older checkpoints are loaded for it. */
export async function firstMoment(): Promise<string | undefined> {
  await loadUntil((branch) => !branch.more);
  return currentBranch()[0];
}

/** The moment after a step, on the branch of the cursor; null for now, undefined when there is none. */
export async function momentAfter(step: number): Promise<string | null | undefined> {
  const find = (list: readonly CheckpointView[]) => {
    const ours = new Set(currentBranch());
    return list.find((checkpoint) => checkpoint.step === step && ours.has(checkpoint.id));
  };
  await loadUntil(
    ({ list, more }) => !more || (list.at(-1)?.step ?? step) <= step || find(list) !== undefined,
  );
  const known = here();
  const found = known && find(known.list);
  if (!known || !found) return undefined;
  return found.id === known.list[0]?.id ? null : found.id;
}

interface Loaded {
  readonly list: readonly CheckpointView[];
  readonly more: boolean;
}

/** Waits for the first page of a thread that was selected just now. */
async function firstPage(threadId: string): Promise<void> {
  const isThere = () => {
    const state = useRuns.getState().checkpoints.get(threadId)?.state;
    return state !== undefined && state !== "loading";
  };
  await loadCheckpoints(threadId);
  if (isThere()) return;
  await new Promise<void>((done) => {
    const stop = useRuns.subscribe(() => {
      if (!isThere()) return;
      stop();
      done();
    });
  });
}

async function loadUntil(enough: (loaded: Loaded) => boolean): Promise<void> {
  const { threadId } = useSession.getState().cursor;
  if (threadId === null) return;
  await firstPage(threadId);
  for (let before = -1; ;) {
    const pages = useRuns.getState().checkpoints.get(threadId);
    // A page that brought nothing is the last that comes.
    if (!pages || enough(pages) || pages.list.length === before) return;
    before = pages.list.length;
    await loadOlderCheckpoints(threadId);
  }
}
