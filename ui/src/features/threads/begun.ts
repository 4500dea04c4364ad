/** Threads that their titles do not tell apart: they are told by when they began. */
import { useRuns } from "../../debugger/model/runStore";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { momentText } from "../../lib/intl";

const known = new WeakMap<ReadonlyMap<string, ThreadView>, ReadonlySet<string>>();

/** Titles that more than one of the threads has. */
function repeated(threads: ReadonlyMap<string, ThreadView>): ReadonlySet<string> {
  let titles = known.get(threads);
  if (titles === undefined) {
    const once = new Set<string>();
    const more = new Set<string>();
    for (const { title } of threads.values()) {
      if (once.has(title)) more.add(title);
      else once.add(title);
    }
    titles = more;
    known.set(threads, titles);
  }
  return titles;
}

/** When a thread began, where its title is that of others or only that of its graph; else empty. */
export function begunText(thread: ThreadView, threads: ReadonlyMap<string, ThreadView>): string {
  const { title, graphName, createdAt } = thread;
  const unnamed = title === "" || title === graphName;
  return unnamed || repeated(threads).has(title) ? momentText(createdAt) : "";
}

export const useBegun = (thread: ThreadView | undefined): string =>
  useRuns((store) => (thread === undefined ? "" : begunText(thread, store.threads)));
