/** Threads that a saved search has found, for the list of threads. */
import type { FindMoments } from "../../ipc/bindings/FindMoments";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";

/** Threads that are listed; who wants more looks in Find in threads. */
export const MOST_FOUND = 200;

export interface FoundFilter {
  readonly name: string;
  readonly request: FindMoments;
}

/** The threads of a search, the one that changed last first; `more` when there may be others. */
export async function foundThreads(
  { request }: FoundFilter,
  isWanted: () => boolean,
): Promise<{ threads: ThreadView[]; more: boolean }> {
  const ids = new Set<string>();
  let after: string | undefined;
  do {
    const answer = await rpc("moments.find", after === undefined ? request : { ...request, after });
    for (const { threadId } of answer.moments) ids.add(threadId);
    after = answer.progress.next;
  } while (after !== undefined && ids.size < MOST_FOUND && isWanted());
  const listed = [...ids].slice(0, MOST_FOUND);
  const views = await Promise.all(
    listed.map((threadId) =>
      // One that was deleted meanwhile is left out.
      rpc("thread.get", { threadId }).catch(() => null),
    ),
  );
  return {
    threads: views.filter((view) => view !== null),
    more: after !== undefined || ids.size > listed.length,
  };
}
