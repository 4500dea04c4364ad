/**
 * The answer of a command that reads, with what goes wrong; asked again when `key` changes or `again` is called, and with
 * `follows` when another program changed something.
 */
import { useCallback, useEffect, useState } from "react";
import { asProblem, type ShownProblem } from "../parts/problem";
import { useChanges } from "./events";

export interface Answer<T> {
  readonly value: T | null;
  readonly problem: ShownProblem | null;
  readonly loading: boolean;
  again(): void;
}

export function useAnswer<T>(
  key: string | null,
  ask: (signal: AbortSignal) => Promise<T>,
  follows = false,
): Answer<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; problem: ShownProblem | null }>({
    key: null,
    value: null,
    problem: null,
  });
  const [turn, setTurn] = useState(0);
  const changes = useChanges(({ n }) => (follows ? n : 0));
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    ask(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ key, value, problem: null });
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setState({ key, value: null, problem: asProblem(thrown) });
      },
    );
    return () => abort.abort();
    // What is asked follows from the key.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [key, turn, changes]);
  const again = useCallback(() => setTurn((turn) => turn + 1), []);
  const current = state.key === key;
  return {
    value: current ? state.value : null,
    problem: current ? state.problem : null,
    loading: key !== null && !current,
    again,
  };
}
