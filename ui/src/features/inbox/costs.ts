/** What the threads of waiting questions have cost: read when somebody filters or sorts by it. */
import { useEffect, useState } from "react";
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { showProblem } from "../../state/toasts";
import type { Costs } from "./desk";

/** Threads of one request. */
const AT_ONCE = 1000;

async function read(threads: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < threads.length; from += AT_ONCE) {
    const { costs } = await rpc("inbox.costs", { threadIds: threads.slice(from, from + AT_ONCE) });
    for (const { threadId, amount } of costs) found.set(threadId, amount);
  }
  return found;
}

export function useCosts(questions: readonly Question[], isWanted: boolean): Costs {
  const [costs, setCosts] = useState<Costs>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    read([...new Set(questions.map(({ threadId }) => threadId))]).then(
      (found) => {
        if (!isOver) setCosts(found);
      },
      (problem: unknown) => {
        if (!isOver) showProblem(problem);
      },
    );
    return () => {
      isOver = true;
    };
  }, [questions, isWanted]);
  return costs;
}
