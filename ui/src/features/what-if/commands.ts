/** Opens the what-if dialog at the moment that is shown; with a node selected, at that node's settings. */
import { useOnlyRead } from "../../debugger/model/only-read";
import { doc } from "../../document/store";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { askWhatIf } from "../../state/what-if";

export function registerWhatIfCommands(): () => void {
  const ask = (ofNode: boolean) => {
    const { cursor, selection } = useSession.getState();
    if (cursor.threadId === null) {
      showToast({ tone: "info", text: t("whatIf.needsThread") });
      return;
    }
    const [node] = selection.nodes;
    const known = ofNode && node !== undefined && doc.has(`node:${node}`);
    askWhatIf({
      threadId: cursor.threadId,
      checkpointId: cursor.checkpointId,
      ...(known && { node }),
    });
  };
  const group = t("shell.group.debug");
  const hasGraph = () => useSession.getState().graphId !== null;
  return registerCommands([
    {
      id: "debug.whatIf",
      group,
      title: t("whatIf.command"),
      enabled: () => hasGraph() && !useOnlyRead.getState().onlyRead,
      run: () => ask(true),
    },
  ]);
}
