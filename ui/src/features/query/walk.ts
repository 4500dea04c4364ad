/**
 * A walk over all threads that goes on, answer by answer, until the last one. Stopping it is not asking for the next answer.
 * It outlives the dialog, so that the results are there when it is opened again.
 */
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { IndexState } from "../../ipc/bindings/IndexState";
import type { SearchProgress } from "../../ipc/bindings/SearchProgress";

/** Rows that are listed; a walk that finds more is to be made narrower. */
const MOST = 5_000;

interface Walk<Row> {
  readonly state: "idle" | "running" | "stopped" | "full" | "done";
  readonly rows: readonly Row[];
  /** What the answers counted beside their rows, added up. */
  readonly sums: Readonly<Record<string, number>>;
  readonly searched: number;
  readonly total: number;
  /** Steps at which an expression could not be evaluated. */
  readonly unknown: number;
  readonly reason: string | null;
  /** How far the index of words is behind, where there is one. */
  readonly index: IndexState | null;
  readonly problem: ShownProblem | null;
}

interface WalkAnswer<Row> {
  readonly rows: readonly Row[];
  readonly sums?: Readonly<Record<string, number>>;
  readonly progress: SearchProgress;
}

/** Asks for the answer after a place; the first one without. */
type Ask<Row> = (after: string | undefined) => Promise<WalkAnswer<Row>>;

export interface Walker<Row> {
  readonly use: UseBoundStore<StoreApi<Walk<Row>>>;
  /** Begins again; without a question there is nothing to show. */
  start(ask: Ask<Row> | null): Promise<void>;
  /** Ends the walk that goes on; what it has found stays. */
  stop(): void;
}

export function createWalk<Row>(): Walker<Row> {
  const idle: Walk<Row> = {
    state: "idle",
    rows: [],
    sums: {},
    searched: 0,
    total: 0,
    unknown: 0,
    reason: null,
    index: null,
    problem: null,
  };
  const use = create<Walk<Row>>()(() => idle);
  let current: AbortController | null = null;
  const end = () => {
    current?.abort();
    current = null;
  };
  const add = ({ rows, sums = {}, progress }: WalkAnswer<Row>): boolean => {
    const before = use.getState();
    const all = [...before.rows, ...rows];
    const full = all.length >= MOST && progress.next !== undefined;
    const added = Object.entries(sums).map(([name, n]) => [name, n + (before.sums[name] ?? 0)]);
    use.setState({
      state: full ? "full" : progress.next === undefined ? "done" : "running",
      rows: all,
      sums: { ...before.sums, ...Object.fromEntries(added) },
      searched: before.searched + progress.searched,
      total: progress.total ?? before.total,
      unknown: before.unknown + progress.unknown,
      index: before.index ?? progress.index ?? null,
      reason: before.reason ?? progress.reason ?? null,
    });
    return full;
  };
  return {
    use,
    stop() {
      end();
      if (use.getState().state === "running") use.setState({ state: "stopped" });
    },
    async start(ask) {
      end();
      if (ask === null) {
        use.setState(idle);
        return;
      }
      const abort = new AbortController();
      current = abort;
      use.setState({ ...idle, state: "running" });
      let after: string | undefined;
      try {
        do {
          const answer = await ask(after);
          if (abort.signal.aborted) return;
          after = answer.progress.next;
          if (add(answer)) return;
        } while (after !== undefined);
      } catch (thrown) {
        if (!abort.signal.aborted) use.setState({ state: "stopped", problem: asProblem(thrown) });
      } finally {
        if (current === abort) current = null;
      }
    },
  };
}
