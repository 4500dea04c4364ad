/** Shows a moment that a link names: its graph is opened when it is not, its thread and checkpoint are selected. */
import { openGraph } from "../../document/open-graph";
import { rpc } from "../../ipc/client";
import { type Cursor, useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";

export async function openMoment(moment: Cursor): Promise<void> {
  const { threadId } = moment;
  if (threadId === null) return;
  try {
    const thread = await rpc("thread.get", { threadId });
    if (thread.graphPath !== undefined && useSession.getState().graphKey !== thread.graphPath)
      openGraph(await rpc("graph.open", { path: thread.graphPath }));
    const session = useSession.getState();
    session.setUse("debug");
    session.setCursor({ ...moment, taskId: moment.taskId ?? null });
  } catch (problem) {
    showProblem(problem);
  }
}
