/**
 * A thread goes on and its graph has changed since it ran: what becomes of it, and what a person chooses. The part that lets
 * a thread go on passes `settleGraph`; nothing is asked where the change does not matter. The part that shows the dialog
 * answers it.
 */
import { create } from "zustand";
import type { GoOnReport } from "../../ipc/bindings/GoOnReport";
import type { ReadThreadGraph } from "../../ipc/bindings/ReadThreadGraph";
import type { StartRun } from "../../ipc/bindings/StartRun";
import type { TaskChange } from "../../ipc/bindings/TaskChange";
import { rpc } from "../../ipc/client";

export type Renamed = Readonly<Record<string, string>>;

/** How the thread goes on; a fork runs its next tasks again on a new branch. */
export type GoOn =
  { readonly how: "recorded" } | { readonly how: "current" | "fork"; readonly renamed: Renamed };

export interface HotEditAsked {
  readonly report: GoOnReport;
  /** `null` when the person does not go on. */
  readonly decide: (goOn: GoOn | null) => void;
}

export const useHotEdit = create<{ readonly asked: HotEditAsked | null }>(() => ({ asked: null }));

export function decideHotEdit(goOn: GoOn | null): void {
  const { asked } = useHotEdit.getState();
  useHotEdit.setState({ asked: null });
  asked?.decide(goOn);
}

export const matters = ({ tasks, keys, questions }: GoOnReport): boolean =>
  tasks.length + keys.length + questions.length > 0;

/** Another node can run in the place of this one's. */
export const isMapped = (task: TaskChange): boolean => task.change === "gone" && task.path.length === 0;

/** What is likely meant: of nodes that are gone, the first that looks the same, each once. */
export function likely(report: GoOnReport): Renamed {
  const taken = new Set<string>();
  const renamed: Record<string, string> = {};
  for (const task of report.tasks.filter(isMapped)) {
    const first = task.candidates.find((node) => !taken.has(node));
    if (first === undefined) continue;
    taken.add(first);
    renamed[task.node] = first;
  }
  return renamed;
}

type ForRun = Pick<StartRun, "graphVersion" | "renamed"> & { readonly fork?: true };

/** For `run.start`; `null`: the person does not go on. */
export async function settleGraph(thread: ReadThreadGraph): Promise<ForRun | null> {
  const { moved, report } = await rpc("thread.graph", thread);
  if (!moved || !matters(report)) return {};
  // An earlier caller is answered: only one dialog is open.
  decideHotEdit(null);
  const goOn = await new Promise<GoOn | null>((decide) => useHotEdit.setState({ asked: { report, decide } }));
  if (goOn === null) return null;
  if (goOn.how === "recorded") return { graphVersion: "recorded" };
  return {
    graphVersion: "current",
    ...(Object.keys(goOn.renamed).length > 0 && { renamed: { ...goOn.renamed } }),
    ...(goOn.how === "fork" && { fork: true as const }),
  };
}
