/** The steps of a graph that a task runs, newest first; read again whenever that graph goes a step further. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { rpc, subscribe } from "../../ipc/client";
import { asProblem, type ShownProblem } from "../parts/problem";
import { settledTask } from "../model/settled";

/** While it runs the steps are read again at most this often. */
const REFRESH_MS = 200;

interface Read {
  readonly steps: readonly WithinStep[];
  readonly more: boolean;
  readonly problem: ShownProblem | null;
  readonly loading: boolean;
}

/** Does an event change what is known of the steps of a graph? Its tasks may have ended with those around it. */
export function concerns(event: AppEvent, threadId: string, ns: string): boolean {
  if (event.type === "within") return event.threadId === threadId && event.ns === ns;
  return event.type === "run" && event.run.threadId === threadId;
}

/** Nothing is read without a namespace. */
export function useWithin(threadId: string, ns: string | null): Read & { older(): void; again(): void } {
  const [read, setRead] = useState<Read>({ steps: [], more: false, problem: null, loading: true });
  const size = useRef(0);
  const load = useCallback(
    async (limit: number, signal?: AbortSignal) => {
      if (ns === null) return;
      setRead((known) => ({ ...known, loading: true }));
      try {
        const { steps, more } = await rpc("thread.within", { threadId, ns, limit }, signal);
        size.current = steps.length;
        const settled = steps.map((step) => ({ ...step, tasks: step.tasks.map(settledTask) }));
        if (!signal?.aborted) setRead({ steps: settled, more, problem: null, loading: false });
      } catch (thrown) {
        if (!signal?.aborted) setRead((known) => ({ ...known, problem: asProblem(thrown), loading: false }));
      }
    },
    [threadId, ns],
  );
  useEffect(() => {
    if (ns === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => void load(Math.max(size.current, 50), abort.signal);
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        again();
      }, REFRESH_MS);
    };
    again();
    const unsubscribe = subscribe((events) => {
      if (events.some((event) => concerns(event, threadId, ns))) soon();
    }, soon);
    return () => {
      abort.abort();
      unsubscribe();
      clearTimeout(timer);
    };
  }, [load, threadId, ns]);
  return {
    ...read,
    older: () => void load(size.current + 50),
    again: () => void load(Math.max(size.current, 50)),
  };
}
