/** Items that have no vectors of the kind that memory is searched by now: how many, and embedding them again. */
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { OutdatedItems } from "../../ipc/bindings/OutdatedItems";
import { rpc } from "../../ipc/client";
import { tn } from "../../lib/texts";
import { showToast } from "../../state/toasts";
import { withJob } from "../../state/jobs";

interface Reembedding {
  /** Nothing until it was read, and when it cannot be: what is wrong with the database is reported where items are read. */
  readonly outdated: OutdatedItems | null;
  /** The work of this window. It goes on when the dialog that began it is closed. */
  readonly work: string | null;
  readonly problem: ShownProblem | null;
}

const NOTHING: Reembedding = { outdated: null, work: null, problem: null };

export const useReembedding = create<Reembedding>(() => NOTHING);

let asked = 0;

export async function readOutdated(): Promise<void> {
  const turn = (asked += 1);
  const outdated = await rpc("store.outdated", {}).catch(() => null);
  // An answer that was overtaken may be of another embedding.
  if (turn === asked) useReembedding.setState({ outdated });
}

export async function embedAgain(): Promise<void> {
  if (useReembedding.getState().work !== null) return;
  useReembedding.setState({ problem: null });
  try {
    const { items } = await withJob(
      (work) => rpc("store.embed", { work }),
      (work) => useReembedding.setState({ work }),
    );
    showToast({ tone: "done", text: tn("memory.outdated.doneOne", "memory.outdated.done", items) });
  } catch (thrown) {
    const problem = asProblem(thrown);
    // The person who stopped it knows, and what another window began is shown as such.
    if (problem.code !== "stopped" && problem.code !== "busy") useReembedding.setState({ problem });
  } finally {
    // What is left is known before the work is over, so that no old number is shown in between.
    await readOutdated();
    useReembedding.setState({ work: null });
  }
}
