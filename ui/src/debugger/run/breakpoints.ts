/**
 * Breakpoints of the open graph, in the shape that a run is started with. They belong to the graph and not to one window:
 * the workbench keeps them, and every window shows what is kept. They are no part of the document and never dirty it.
 */
import { create } from "zustand";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import type { Breakpoints } from "../../ipc/bindings/Breakpoints";
import { rpc, subscribe } from "../../ipc/client";
import { doc } from "../../document/store";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import { withKey, withNode } from "./renamed-points";

type Points = readonly Breakpoint[];
type When = Breakpoint["when"];

const NONE: Points = [];
const useStore = create<{ readonly graph: string | null; readonly points: Points }>(() => ({
  graph: null,
  points: NONE,
}));

export const currentBreakpoints = (): Points => useStore.getState().points;

export function useBreakpoints(): Points {
  return useStore((store) => store.points);
}

export const onBreakpoints = (listener: () => void): (() => void) => useStore.subscribe(listener);

/** A name of the breakpoint that is its own in the graph: those of earlier releases have no id. */
export const pointId = (point: Breakpoint): string => point.id ?? `${point.when}:${point.node}`;

/** Is it at a node, and has nothing but its place? Those are switched on and off by a key. */
const isPlain = (point: Breakpoint, node: string, when: When): boolean =>
  point.node === node &&
  point.when === when &&
  point.within === undefined &&
  point.condition === undefined &&
  point.hits === undefined &&
  point.log === undefined;

/** The names that a breakpoint is at and that the graph does not have any more. */
export function missingOf(point: Breakpoint, has: (record: string) => boolean): string[] {
  // The records of a nested graph are in another file.
  if (point.within !== undefined) return [];
  const nodes = [point.node, point.to ?? ""].filter(
    (node) => node !== "" && node !== "*" && !node.startsWith("__") && !has(`node:${node}`),
  );
  const key = point.key !== undefined && !has(`key:${point.key}`) ? [point.key] : [];
  return [...nodes, ...key];
}

/** Where a run is to stop. Breakpoints at what is gone stay in the list but are not sent. */
export function breaksOf(points: Points, has: (record: string) => boolean): { breakpoints: Breakpoint[] } {
  return {
    breakpoints: points
      .filter((point) => point.enabled && missingOf(point, has).length === 0)
      .map((point) => ({ ...point, id: pointId(point) })),
  };
}

export function currentBreaks(): { breakpoints: Breakpoint[] } {
  return breaksOf(currentBreakpoints(), (record) => doc.has(record));
}

// ---------------------------------------------------------------- changes

/** Adds a breakpoint at a node, or removes it. */
export function toggleBreakpoint(node: string, when: When): void {
  change((points) => {
    const without = points.filter((each) => !isPlain(each, node, when));
    return without.length < points.length ? without : [...points, { node, when, enabled: true }];
  });
}

/** The breakpoint at a node that {@link toggleBreakpoint} switches. */
export const plainPoint = (points: Points, node: string, when: When): Breakpoint | undefined =>
  points.find((each) => isPlain(each, node, when));

/** Puts a breakpoint in the place of the one with its id, or at the end. */
export function setBreakpoint(point: Breakpoint): void {
  const id = pointId(point);
  change((points) =>
    points.some((each) => pointId(each) === id)
      ? points.map((each) => (pointId(each) === id ? point : each))
      : [...points, point],
  );
}

export function enableBreakpoint(id: string, enabled: boolean): void {
  change((points) => points.map((each) => (pointId(each) === id ? { ...each, enabled } : each)));
}

export function removeBreakpoint(id: string): void {
  change((points) => points.filter((each) => pointId(each) !== id));
}

/** Follows a new name of a node, or of a state key. */
export function renameBreakpoints(what: "node" | "key", from: string, to: string): void {
  change((points) => (what === "node" ? withNode : withKey)(points, from, to));
}

/** What the window changed, by id: the rest stays as it is kept, where another window may have changed it. */
function changesOf(before: Points, after: Points): { points: Breakpoint[]; removed: string[] } {
  const left = new Set(after.map(pointId));
  return {
    points: after.filter((point) => !before.includes(point)),
    removed: before.map(pointId).filter((id) => !left.has(id)),
  };
}

/** Changes that are on their way, one after the other. What comes from outside meanwhile is read when they are through. */
let sending: Promise<void> = Promise.resolve();
let unsent = 0;
/** What is kept for the open graph is being read; changes wait for it, so that they take nothing away. */
let reading: Promise<void> | null = null;

function change(next: (points: Points) => Points): void {
  if (reading) {
    void reading.then(() => change(next));
    return;
  }
  const { graph, points } = useStore.getState();
  const changed = next(points);
  if (graph === null || changed === points) return;
  useStore.setState({ points: changed });
  unsent += 1;
  sending = sending.then(async () => {
    try {
      await rpc("breakpoints.change", { graph, ...changesOf(points, changed) });
    } catch (problem) {
      showProblem(problem);
    }
    unsent -= 1;
    if (unsent === 0) await read();
  });
}

// ---------------------------------------------------------------- what is kept

/** Shows what is kept for the open graph. */
async function read(): Promise<void> {
  const graph = useSession.getState().graphKey;
  if (graph === null) {
    useStore.setState({ graph, points: NONE });
    return;
  }
  try {
    const kept = await rpc("breakpoints.get", { graph });
    if (unsent === 0 && useSession.getState().graphKey === graph) useStore.setState(kept);
  } catch (problem) {
    showProblem(problem);
  }
}

function open(): void {
  const one = read().finally(() => {
    if (reading === one) reading = null;
  });
  reading = one;
}

function receive({ graph, points }: Breakpoints): void {
  // What is being read may be from before.
  if (reading) void reading.then(read);
  else if (unsent === 0 && graph === useStore.getState().graph) useStore.setState({ points });
}

let following = false;

/** Connects to the event stream and to the open graph, once for the window's life. */
export function followBreakpoints(): void {
  if (following) return;
  following = true;
  subscribe(
    (events) => {
      for (const event of events) {
        if (event.type === "breakpoints") receive(event.breakpoints);
        else if (event.type === "changed" && event.threads && unsent === 0) void read();
      }
    },
    () => void read(),
  );
  useSession.subscribe((now, before) => {
    if (now.graphKey === before.graphKey) return;
    // A draft that became a file keeps what is shown until it is read.
    if (now.graphId !== before.graphId) useStore.setState({ graph: null, points: NONE });
    open();
  });
  reading = takeOver().then(() => open());
}

// ---------------------------------------------------------------- earlier releases

const SESSION = "superstep.session";

/** Gives the workbench what an earlier release kept in this window, where nothing is kept yet. Once: then it is forgotten. */
async function takeOver(): Promise<void> {
  try {
    const session = JSON.parse(localStorage.getItem(SESSION) ?? "{}") as { breakpoints?: unknown };
    const old = Object.entries((session.breakpoints ?? {}) as Record<string, Breakpoint[]>);
    for (const [graph, points] of old) {
      const kept = await rpc("breakpoints.get", { graph });
      if (kept.points.length === 0 && points.length > 0)
        await rpc("breakpoints.change", { graph, points, removed: [] });
    }
    const rest = JSON.parse(localStorage.getItem(SESSION) ?? "{}") as { breakpoints?: unknown };
    if (rest.breakpoints === undefined) return;
    delete rest.breakpoints;
    localStorage.setItem(SESSION, JSON.stringify(rest));
  } catch (problem) {
    console.warn("superstep: earlier breakpoints could not be taken over:", problem);
  }
}
