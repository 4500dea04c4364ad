/**
 * The canvas's door to the debugger: what to draw over each node and edge for the moment under the cursor. Computed once
 * per frame for all nodes; each hook wakes only when its own node or edge has changed.
 */
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useSession } from "../../state/session";
import {
  computeOverlay,
  edgeKey,
  type EdgeOverlay,
  IDLE_NODE,
  keepIdentities,
  mostUrgent,
  type NodeOverlay,
  type Overlay,
  wayOverlay,
  type WayDrawn,
} from "./overlay-model";
import { currentBreakpoints, followBreakpoints, onBreakpoints } from "../run/breakpoints";
import { ensureStarted } from "../model/connect";
import { statusOf } from "../model/status";
import { useRuns } from "../model/runStore";

export type { EdgeOverlay, NodeOverlay } from "./overlay-model";

let overlay: Overlay = { nodes: new Map(), edges: new Map() };
/** The edges of the overlay in which one of them changed last. */
let taken = overlay.edges;
const nodeListeners = new Map<string, Set<() => void>>();
const edgeListeners = new Map<string, Set<() => void>>();
/** For the caller that looks at all edges together. */
const allListeners = new Set<() => void>();
let wired = false;
let scheduled = false;

function recompute(): void {
  scheduled = false;
  const session = useSession.getState();
  const { cursor } = session;
  const store = useRuns.getState();
  const { shown, live } = store;
  const now = cursor.checkpointId === null;
  const here =
    shown !== null && shown.place.threadId === cursor.threadId && (shown.place.checkpointId === null) === now;
  const thread = cursor.threadId === null ? undefined : live.get(cursor.threadId);
  const next = computeOverlay({
    ...(here && cursor.threadId !== null && { snapshot: shown.view, snapshotEra: shown.era }),
    ...(thread && { live: thread }),
    now,
    running: statusOf(store, cursor.threadId) === "running",
    breakpoints: currentBreakpoints(),
  });
  const kept = keepIdentities(overlay, next);
  overlay = kept.overlay;
  for (const id of kept.changedNodes) for (const listener of nodeListeners.get(id) ?? []) listener();
  if (kept.changedEdges.length > 0) {
    taken = overlay.edges;
    for (const listener of [...allListeners]) listener();
  }
  for (const id of kept.changedEdges) for (const listener of edgeListeners.get(id) ?? []) listener();
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  // A window in the background gets no frames, and its overlay must not be old when it comes back.
  if (document.hidden) setTimeout(recompute, 100);
  else requestAnimationFrame(recompute);
}

function wire(): void {
  if (wired) return;
  wired = true;
  ensureStarted();
  followBreakpoints();
  onBreakpoints(schedule);
  useRuns.subscribe((now, before) => {
    if (
      now.shown !== before.shown ||
      now.live !== before.live ||
      now.threads !== before.threads ||
      now.away !== before.away
    )
      schedule();
  });
  useSession.subscribe((now, before) => {
    if (now.cursor !== before.cursor || now.graphId !== before.graphId) {
      schedule();
    }
  });
  schedule();
}

function listen(listeners: Map<string, Set<() => void>>, id: string, listener: () => void): () => void {
  wire();
  let set = listeners.get(id);
  if (!set) listeners.set(id, (set = new Set()));
  set.add(listener);
  return () => {
    set.delete(listener);
    if (set.size === 0) listeners.delete(id);
  };
}

/** What to draw over a node. The object is the same as long as nothing about the node changes. */
export function useNodeOverlay(id: string): NodeOverlay {
  const subscribe = useCallback((listener: () => void) => listen(nodeListeners, id, listener), [id]);
  return useSyncExternalStore(subscribe, () => overlay.nodes.get(id) ?? IDLE_NODE);
}

/** What to draw over a card that stands for several nodes: that of the one that most wants attention. */
export function useUrgentOverlay(ids: readonly string[]): NodeOverlay {
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = ids.map((id) => listen(nodeListeners, id, listener));
      return () => stops.forEach((stop) => stop());
    },
    [ids],
  );
  return useSyncExternalStore(subscribe, () => urgentOverlay(ids));
}

export const urgentOverlay = (ids: readonly string[]): NodeOverlay =>
  mostUrgent(ids.map((id) => overlay.nodes.get(id) ?? IDLE_NODE));

/** What is drawn over a line that stands for several edges: all that was taken of them. */
export function useMergedOverlay(ways: readonly WayDrawn[]): EdgeOverlay {
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = ways.flatMap((way) => listenWay(way, listener));
      return () => stops.forEach((stop) => stop());
    },
    [ways],
  );
  const sum = () => {
    const found = ways.map((way) => wayOverlay(overlay.edges, way));
    const times = found.reduce((all, each) => all + each.times, 0);
    return found.some(({ active }) => active) ? -1 - times : times;
  };
  const all = useSyncExternalStore(subscribe, sum);
  return { times: all < 0 ? -1 - all : all, active: all < 0 };
}

function listenWay({ id, from, to }: WayDrawn, listener: () => void): (() => void)[] {
  const stops = [listen(edgeListeners, edgeKey(from, to), listener)];
  if (id !== undefined) stops.push(listen(edgeListeners, id, listener));
  return stops;
}

/** How often a line was followed on the way to the moment, and whether it leads to what runs now. */
export function useWayOverlay({ id, from, to }: WayDrawn): EdgeOverlay {
  const ways = useMemo(() => [{ from, to, ...(id !== undefined && { id }) }], [id, from, to]);
  return useMergedOverlay(ways);
}

const listenAll = (listener: () => void): (() => void) => {
  wire();
  allListeners.add(listener);
  return () => allListeners.delete(listener);
};

/** Which ways were taken at all. Wakes whenever one is. */
export function useTakenEdges(): ReadonlyMap<string, EdgeOverlay> {
  return useSyncExternalStore(listenAll, () => taken);
}

/** For drawing the overview on a canvas element, where hooks per node would cost too much. */
export function readOverlay(): Overlay {
  return overlay;
}
