/** The tests of the open graph: what they are, how each came out last, and those that run now, one after the other. */
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { flush } from "../../document/open-graph";
import type { GraphTests } from "../../ipc/bindings/GraphTests";
import type { TestResult } from "../../ipc/bindings/TestResult";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { stopJob, withJob } from "../../state/jobs";
import { showProblem, showToast } from "../../state/toasts";

/** How a test came out, or why it could not be run. */
export type Outcome =
  | { readonly result: TestResult; readonly problem?: undefined }
  | { readonly problem: ShownProblem; readonly result?: undefined };

interface Going {
  readonly name: string;
  /** By which it is stopped; none before it begins. */
  readonly work: string | null;
  /** Its place among those that were asked for, from 1. */
  readonly place: number;
  readonly of: number;
}

interface TestsStore {
  readonly graphId: string | null;
  readonly list: GraphTests | null;
  readonly problem: ShownProblem | null;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly going: Going | null;
  /** The test whose differences are shown. */
  readonly open: string | null;
}

const EMPTY: TestsStore = {
  graphId: null,
  list: null,
  problem: null,
  outcomes: new Map(),
  going: null,
  open: null,
};

export const useTests = create<TestsStore>()(() => EMPTY);

/** Counts the runs that were begun; a later one ends those before. */
let begun = 0;

/** Reads the tests of a graph again; what is known of another graph's is forgotten. */
export async function loadTests(graphId: string | null): Promise<void> {
  if (useTests.getState().graphId !== graphId) {
    stopTests();
    useTests.setState({ ...EMPTY, graphId });
  }
  if (graphId === null) return;
  try {
    const list = await rpc("test.list", { graphId });
    if (useTests.getState().graphId === graphId) useTests.setState({ list, problem: null });
  } catch (thrown) {
    if (useTests.getState().graphId === graphId) useTests.setState({ problem: asProblem(thrown) });
  }
}

export const openTest = (open: string | null): void => useTests.setState({ open });

function note(name: string, outcome: Outcome): void {
  useTests.setState({ outcomes: new Map(useTests.getState().outcomes).set(name, outcome) });
}

/** Runs these tests one after the other; the first that fails is opened. */
export async function runTests(names: readonly string[]): Promise<void> {
  const { graphId, going } = useTests.getState();
  if (graphId === null || going !== null || names.length === 0) return;
  const turn = (begun += 1);
  const isOver = () => turn !== begun || useTests.getState().graphId !== graphId;
  let firstFailed: string | null = null;
  useTests.setState({ open: null });
  try {
    // What was written a moment ago counts.
    await flush();
    for (const [index, name] of names.entries()) {
      if (isOver()) return;
      const place = { name, place: index + 1, of: names.length };
      useTests.setState({ going: { ...place, work: null } });
      try {
        const result = await withJob(
          (work) => rpc("test.run", { graphId, name, work }),
          (work) => useTests.setState({ going: { ...place, work } }),
        );
        if (isOver()) return;
        note(name, { result });
        if (!result.passed) firstFailed ??= name;
      } catch (thrown) {
        if (isOver()) return;
        note(name, { problem: asProblem(thrown) });
        firstFailed ??= name;
      }
    }
    if (firstFailed !== null) openTest(firstFailed);
  } catch (thrown) {
    showProblem(thrown);
  } finally {
    if (turn === begun) useTests.setState({ going: null });
  }
}

/** Stops what runs; tests that have ended keep their result. */
export function stopTests(): void {
  const { going } = useTests.getState();
  begun += 1;
  if (going === null) return;
  if (going.work !== null) stopJob(going.work);
  useTests.setState({ going: null });
}

/** Takes what came of a test as what must come from now on. */
export async function acceptTest(name: string): Promise<void> {
  const { graphId } = useTests.getState();
  if (graphId === null) return;
  try {
    const result = await rpc("test.accept", { graphId, name });
    note(name, { result });
    showToast({ tone: "done", text: t("tests.accepted", { name }) });
  } catch (thrown) {
    showProblem(thrown);
  }
}
