/** The evaluations of the open graph: what they are, what came of each, and the one that runs now. */
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { start } from "../../debugger/run/start";
import { flush } from "../../document/open-graph";
import type { EvaluationList } from "../../ipc/bindings/EvaluationList";
import type { EvaluationResult } from "../../ipc/bindings/EvaluationResult";
import { rpc } from "../../ipc/client";
import { stopJob, withJob } from "../../state/jobs";
import { showProblem } from "../../state/toasts";

/** What came of an evaluation, or why it could not be run. */
type Outcome =
  | { readonly result: EvaluationResult; readonly problem?: undefined }
  | { readonly problem: ShownProblem; readonly result?: undefined };

interface EvaluationsStore {
  readonly graphId: string | null;
  readonly list: EvaluationList | null;
  readonly problem: ShownProblem | null;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The evaluation that runs; its work is the name by which it is stopped. */
  readonly going: { readonly name: string; readonly work: string | null } | null;
  /** The evaluation that is shown. */
  readonly shown: string | null;
}

const EMPTY: EvaluationsStore = {
  graphId: null,
  list: null,
  problem: null,
  outcomes: new Map(),
  going: null,
  shown: null,
};

export const useEvaluations = create<EvaluationsStore>()(() => EMPTY);

/** Reads the evaluations of a graph again; what is known of another graph's is forgotten. */
export async function loadEvaluations(graphId: string | null): Promise<void> {
  if (useEvaluations.getState().graphId !== graphId) {
    stopEvaluation();
    useEvaluations.setState({ ...EMPTY, graphId });
  }
  if (graphId === null) return;
  const isHere = () => useEvaluations.getState().graphId === graphId;
  try {
    const list = await rpc("evaluation.list", { graphId });
    if (!isHere()) return;
    const { shown } = useEvaluations.getState();
    const names = list.evaluations.map(({ name }) => name);
    useEvaluations.setState({
      list,
      problem: null,
      shown: shown !== null && names.includes(shown) ? shown : (names[0] ?? null),
    });
  } catch (thrown) {
    if (isHere()) useEvaluations.setState({ problem: asProblem(thrown) });
  }
}

export const showEvaluation = (shown: string): void => useEvaluations.setState({ shown });

/** Runs an evaluation on the graph as it is drawn; `again` runs also what has not changed. */
export async function runEvaluation(name: string, again: boolean): Promise<void> {
  const { graphId, going } = useEvaluations.getState();
  if (graphId === null || going !== null) return;
  const isHere = () => useEvaluations.getState().graphId === graphId;
  const note = (outcome: Outcome) =>
    useEvaluations.setState({
      outcomes: new Map(useEvaluations.getState().outcomes).set(name, outcome),
    });
  useEvaluations.setState({ going: { name, work: null } });
  try {
    // What was written a moment ago counts.
    await flush();
    const result = await withJob(
      (work) => rpc("evaluation.run", { graphId, name, again, work }),
      (work) => useEvaluations.setState({ going: { name, work } }),
    );
    if (isHere()) note({ result });
  } catch (thrown) {
    if (isHere()) note({ problem: asProblem(thrown) });
  } finally {
    if (isHere()) {
      useEvaluations.setState({ going: null });
      // The history has one more.
      void loadEvaluations(graphId);
    }
  }
}

/** Stops what runs; what has ended is shown, and the next run goes on with the rest. */
export function stopEvaluation(): void {
  const work = useEvaluations.getState().going?.work ?? null;
  if (work !== null) stopJob(work);
}

/** Runs a row of the data set on a thread of its own, as a person would. Answers whether it was started. */
export async function runRow(name: string, row: number): Promise<boolean> {
  const { graphId } = useEvaluations.getState();
  if (graphId === null) return false;
  try {
    const { inputs } = await rpc("evaluation.row", { graphId, name, row });
    return await start({ action: { type: "input", input: inputs[0] } });
  } catch (thrown) {
    showProblem(thrown);
    return false;
  }
}
