/** The what-if grids of threads: loaded when a thread is looked at, kept up to date by events. */
import { useEffect } from "react";
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { rpc, subscribe } from "../../ipc/client";
import { asProblem, type ShownProblem } from "../parts/problem";
import { loadCheckpoints } from "./checkpoints";
import { useRuns } from "./runStore";

export interface Grids {
  /** The newest first. */
  readonly grids: readonly WhatIfView[];
  readonly state: "loading" | "ready" | "failed";
  readonly problem?: ShownProblem;
}

interface Store {
  readonly threads: ReadonlyMap<string, Grids>;
  /** The grid that is shown, by thread. */
  readonly chosen: ReadonlyMap<string, string>;
  /** Grids that ended while nobody looked at them. */
  readonly unseen: ReadonlySet<string>;
  /** The graphs that grids were started from in this window. */
  readonly graphs: ReadonlyMap<string, string>;
}

export const useGrids = create<Store>(() => ({
  threads: new Map(),
  chosen: new Map(),
  unseen: new Set(),
  graphs: new Map(),
}));

const put = (threadId: string, grids: Grids) =>
  useGrids.setState(({ threads, unseen }) => ({
    threads: new Map(threads).set(threadId, grids),
    unseen: ended(unseen, threads.get(threadId)?.grids ?? [], grids.grids),
  }));

/** With the grids that ran before and do not run any more. */
function ended(
  unseen: ReadonlySet<string>,
  before: readonly WhatIfView[],
  now: readonly WhatIfView[],
): ReadonlySet<string> {
  const ran = new Set(before.filter(({ running }) => running).map(({ id }) => id));
  const over = now.filter(({ id, running }) => !running && ran.has(id));
  return over.length === 0 ? unseen : new Set([...unseen, ...over.map(({ id }) => id)]);
}

/** A person looks at a grid. */
export function seeGrid(id: string): void {
  const { unseen } = useGrids.getState();
  if (unseen.has(id)) useGrids.setState({ unseen: new Set([...unseen].filter((one) => one !== id)) });
}

export interface GridProgress {
  /** Where a look at it leads: the newest that runs, or that ended unseen. */
  readonly grid: WhatIfView;
  readonly running: boolean;
  /** Rows of all grids that run; when none does, of those that ended unseen. */
  readonly done: number;
  readonly total: number;
}

/** How far the grids have come that run in the background; null when there is nothing to say. */
export function gridProgress({ threads, unseen }: Pick<Store, "threads" | "unseen">): GridProgress | null {
  const all = [...threads.values()].flatMap(({ grids }) => grids);
  const running = all.filter((grid) => grid.running);
  const counted = running.length > 0 ? running : all.filter(({ id }) => unseen.has(id));
  const [grid] = counted.toSorted((a, b) => b.madeAt.localeCompare(a.madeAt, "en"));
  if (!grid) return null;
  const results = counted.flatMap(({ results }) => results);
  const left = results.filter(({ status }) => status === "queued" || status === "running").length;
  return { grid, running: running.length > 0, done: results.length - left, total: results.length };
}

export const chooseGrid = (threadId: string, id: string): void =>
  useGrids.setState(({ chosen }) => ({ chosen: new Map(chosen).set(threadId, id) }));

/** The grid with a result in its place. */
function withResult(grid: WhatIfView, result: WhatIfResult): WhatIfView {
  const results = grid.results.map((old) =>
    old.row === result.row && old.repeat === result.repeat ? result : old,
  );
  return { ...grid, results };
}

let started = false;
/** The latest load of each thread: an answer that was overtaken is left. */
const asked = new Map<string, number>();

export async function loadGrids(threadId: string): Promise<void> {
  followGrids();
  const request = (asked.get(threadId) ?? 0) + 1;
  asked.set(threadId, request);
  const before = useGrids.getState().threads.get(threadId);
  if (!before) put(threadId, { grids: [], state: "loading" });
  try {
    const { grids } = await rpc("whatIf.list", { threadId });
    if (request === asked.get(threadId)) put(threadId, { grids, state: "ready" });
  } catch (problem) {
    put(threadId, { grids: before?.grids ?? [], state: "failed", problem: asProblem(problem) });
  }
}

/** A grid that was just started, from a graph. */
export function noteGrid(grid: WhatIfView, graphId: string | null): void {
  if (graphId !== null)
    useGrids.setState(({ graphs }) => ({ graphs: new Map(graphs).set(grid.id, graphId) }));
  const grids = useGrids.getState().threads.get(grid.threadId)?.grids ?? [];
  put(grid.threadId, { grids: [grid, ...grids.filter(({ id }) => id !== grid.id)], state: "ready" });
  chooseGrid(grid.threadId, grid.id);
  // It is as it began: rows may have ended before this answer came, and their events named a grid nobody knew.
  void loadGrids(grid.threadId);
}

function receive(events: readonly AppEvent[]): void {
  const again = new Set<string>();
  const branches = new Set<string>();
  for (const event of events) {
    const { threads } = useGrids.getState();
    if (event.type === "threadDeleted" && threads.has(event.threadId)) {
      const left = new Map(threads);
      left.delete(event.threadId);
      useGrids.setState({ threads: left });
    } else if (event.type === "whatIf") {
      const { threadId, id, result } = event;
      const known = threads.get(threadId);
      if (result && result.status !== "running") branches.add(threadId);
      // Of a thread that was not looked at: its grid was begun before this window, or by another.
      if (!known) {
        if (result?.status === "running") again.add(threadId);
      } else if (result && known.grids.some((grid) => grid.id === id))
        put(threadId, {
          ...known,
          grids: known.grids.map((grid) => (grid.id === id ? withResult(grid, result) : grid)),
        });
      else again.add(threadId);
    } else if (event.type === "storage" || (event.type === "changed" && event.threads)) {
      for (const threadId of threads.keys()) again.add(threadId);
    }
  }
  for (const threadId of again) void loadGrids(threadId);
  // Branches are stored without an event of their own: they are not what the thread is now.
  for (const threadId of branches)
    if (useRuns.getState().checkpoints.has(threadId)) void loadCheckpoints(threadId, true);
}

/** Follows the grids that run, whether or not their threads are looked at. */
export function followGrids(): void {
  if (started) return;
  started = true;
  subscribe(receive, () => {
    for (const threadId of useGrids.getState().threads.keys()) void loadGrids(threadId);
  });
}

const NONE: Grids = { grids: [], state: "loading" };

/** The grids of a thread. */
export function useThreadGrids(threadId: string): Grids {
  useEffect(() => void loadGrids(threadId), [threadId]);
  return useGrids((store) => store.threads.get(threadId) ?? NONE);
}
