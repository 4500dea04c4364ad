/** The what-if grids of threads: loaded when a thread is looked at, kept up to date by events. */
import { useEffect } from "react";
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { rpc, subscribe } from "../../ipc/client";
import { asProblem, type ShownProblem } from "../parts/problem";
import { loadCheckpoints, useRuns } from "./runStore";

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
}

export const useGrids = create<Store>(() => ({ threads: new Map(), chosen: new Map() }));

const put = (threadId: string, grids: Grids) =>
  useGrids.setState(({ threads }) => ({ threads: new Map(threads).set(threadId, grids) }));

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
  begin();
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

/** A grid that was just started. */
export function noteGrid(grid: WhatIfView): void {
  const grids = useGrids.getState().threads.get(grid.threadId)?.grids ?? [];
  put(grid.threadId, { grids: [grid, ...grids.filter(({ id }) => id !== grid.id)], state: "ready" });
  chooseGrid(grid.threadId, grid.id);
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
      if (!known) continue;
      if (result && known.grids.some((grid) => grid.id === id))
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

function begin(): void {
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
