/**
 * The moments that were looked at: back and forth between them, the link to one, and the one that a reloaded window finds
 * again. The moment itself is the cursor of the session; this only remembers it.
 */
import { create } from "zustand";
import { type Cursor, useSession } from "./session";

/** Moments that are remembered. */
const MOST = 200;
/** Moments that follow each other faster than this are one way: a key is held. */
const REST_MS = 400;

const same = (a: Cursor, b: Cursor): boolean =>
  a.threadId === b.threadId && a.checkpointId === b.checkpointId && (a.taskId ?? null) === (b.taskId ?? null);

export interface Moments {
  readonly back: readonly Cursor[];
  readonly forth: readonly Cursor[];
  readonly current: Cursor | null;
  /** When the last came. */
  readonly at: number;
}

export const NO_MOMENTS: Moments = { back: [], forth: [], current: null, at: 0 };

/** The cursor stands somewhere else now. */
export function visited(moments: Moments, cursor: Cursor, now: number): Moments {
  const { current } = moments;
  if (current && same(current, cursor)) return moments;
  // Without a thread there is no moment to come back to; where it is left from is remembered.
  const rests = now - moments.at >= REST_MS || current?.threadId !== cursor.threadId;
  const leaves = current !== null && current.threadId !== null && rests;
  return {
    back: leaves ? [...moments.back, current].slice(-MOST) : moments.back,
    forth: [],
    current: cursor,
    at: now,
  };
}

/** One back (-1) or forth (1); undefined when there is none. */
export function gone(moments: Moments, by: -1 | 1): Moments | undefined {
  const { back, forth, current } = moments;
  const target = by < 0 ? back.at(-1) : forth.at(-1);
  if (!target) return undefined;
  const left = current !== null && current.threadId !== null ? [current] : [];
  return by < 0
    ? { ...moments, back: back.slice(0, -1), forth: [...forth, ...left], current: target }
    : { ...moments, back: [...back, ...left], forth: forth.slice(0, -1), current: target };
}

export const useMoments = create<Moments>()(() => NO_MOMENTS);

/** Goes back or forth; answers whether there was somewhere to go. */
export function goMoment(by: -1 | 1): boolean {
  const next = gone(useMoments.getState(), by);
  if (!next?.current) return false;
  useMoments.setState(next);
  const session = useSession.getState();
  const taskId = next.current.taskId ?? null;
  session.setUse("debug");
  session.setCursor({ ...next.current, taskId });
  // The moment's task is shown, and not those of a node that was selected since.
  if (taskId !== null) session.select({ key: session.selection.key });
  return true;
}

const KEY = "superstep.moment";

interface Kept {
  readonly graphKey: string;
  readonly cursor: Cursor;
}

function kept(): Kept | null {
  try {
    const read = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
    return typeof read?.graphKey === "string" && typeof read.cursor?.threadId === "string" ? read : null;
  } catch {
    return null;
  }
}

function keep(graphKey: string | null, cursor: Cursor, use: string): void {
  try {
    if (graphKey === null || cursor.threadId === null || use !== "debug") sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify({ graphKey, cursor } satisfies Kept));
  } catch {
    // Without storage a reloaded window begins without a thread.
  }
}

/** Shows the moment that the window showed before it was reloaded, when its graph is the same. */
export function restoreMoment(): void {
  const session = useSession.getState();
  const found = kept();
  if (!found || found.graphKey !== session.graphKey || session.cursor.threadId !== null) return;
  session.setUse("debug");
  session.setCursor({ ...found.cursor, taskId: found.cursor.taskId ?? null });
}

/** Remembers where the cursor goes. */
export function followMoments(now: () => number = Date.now): () => void {
  return useSession.subscribe((session, before) => {
    if (session.graphKey !== before.graphKey && session.graphId !== before.graphId)
      useMoments.setState(NO_MOMENTS);
    if (session.cursor !== before.cursor)
      useMoments.setState(visited(useMoments.getState(), session.cursor, now()));
    // A window that opens its graph has no thread yet, and is about to look for the one it had.
    const moved = session.cursor !== before.cursor || session.use !== before.use;
    if (moved || (session.graphKey !== before.graphKey && session.cursor.threadId !== null))
      keep(session.graphKey, session.cursor, session.use);
  });
}

/** A link to a moment. */
export function linkTo(cursor: Cursor): string | null {
  if (cursor.threadId === null) return null;
  const query = new URLSearchParams();
  if (cursor.checkpointId !== null) query.set("at", cursor.checkpointId);
  if (cursor.taskId) query.set("task", cursor.taskId);
  const text = query.toString();
  return `superstep://thread/${encodeURIComponent(cursor.threadId)}${text === "" ? "" : `?${text}`}`;
}

/** The moment of a link, or of the address of a page (`#thread/…`); null when it is none. */
export function momentOf(link: string): Cursor | null {
  const match = /^(?:superstep:\/\/|[^#\s]*#)thread\/([^?#\s]+)(?:\?(\S*))?$/.exec(link.trim());
  if (!match?.[1]) return null;
  const query = new URLSearchParams(match[2] ?? "");
  const taskId = query.get("task");
  try {
    return {
      threadId: decodeURIComponent(match[1]),
      checkpointId: query.get("at"),
      ...(taskId !== null && { taskId }),
    };
  } catch {
    return null;
  }
}
