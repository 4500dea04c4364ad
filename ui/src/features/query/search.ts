/**
 * A search that goes on, answer by answer, until the last thread. Stopping it is not asking for the next answer. It outlives
 * the dialog, so that the results are there when it is opened again.
 */
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { FindMoments } from "../../ipc/bindings/FindMoments";
import type { IndexState } from "../../ipc/bindings/IndexState";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import { rpc } from "../../ipc/client";

/** Moments that are listed; a search that finds more is to be made narrower. */
const MOST = 5_000;

export interface Search {
  readonly state: "idle" | "running" | "stopped" | "full" | "done";
  readonly moments: readonly MomentFound[];
  readonly searched: number;
  readonly total: number;
  /** Steps at which an expression could not be evaluated. */
  readonly unknown: number;
  readonly reason: string | null;
  /** How far the index of words is behind, where there is one. */
  readonly index: IndexState | null;
  readonly problem: ShownProblem | null;
}

export const IDLE: Search = {
  state: "idle",
  moments: [],
  searched: 0,
  total: 0,
  unknown: 0,
  reason: null,
  index: null,
  problem: null,
};

export const useSearch = create<Search>()(() => IDLE);

let current: AbortController | null = null;

/** Ends the search that goes on; what it has found stays. */
export function stopSearch(): void {
  current?.abort();
  current = null;
  if (useSearch.getState().state === "running") useSearch.setState({ state: "stopped" });
}

/** Searches from the beginning; without a request there is nothing to show. */
export async function startSearch(request: FindMoments | null): Promise<void> {
  current?.abort();
  current = null;
  if (request === null) {
    useSearch.setState(IDLE);
    return;
  }
  const abort = new AbortController();
  current = abort;
  useSearch.setState({ ...IDLE, state: "running" });
  let after: string | undefined;
  try {
    do {
      const answer = await rpc("moments.find", after === undefined ? request : { ...request, after });
      if (abort.signal.aborted) return;
      const { progress } = answer;
      after = progress.next;
      const before = useSearch.getState();
      const moments = [...before.moments, ...answer.moments];
      const full = moments.length >= MOST && after !== undefined;
      useSearch.setState({
        state: full ? "full" : after === undefined ? "done" : "running",
        moments,
        searched: before.searched + progress.searched,
        total: progress.total ?? before.total,
        unknown: before.unknown + progress.unknown,
        index: before.index ?? progress.index ?? null,
        reason: before.reason ?? progress.reason ?? null,
      });
      if (full) return;
    } while (after !== undefined);
  } catch (thrown) {
    if (!abort.signal.aborted) useSearch.setState({ state: "stopped", problem: asProblem(thrown) });
  } finally {
    if (current === abort) current = null;
  }
}
