/** The commands of tests. */
import { useEffect } from "react";
import { useRuns } from "../../debugger/model/runStore";
import { offOnlyRead } from "../../debugger/model/only-read";
import { askMakeTest, askTests } from "../../debugger/state/asked";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";

export function TestKeeper() {
  useEffect(
    () =>
      registerCommands([
        {
          id: "tests.open",
          title: t("tests.open"),
          group: t("shell.group.debug"),
          enabled: () => useSession.getState().graphId !== null && offOnlyRead() === null,
          run: () => askTests(true),
        },
        {
          id: "tests.make",
          title: t("tests.makeThis"),
          group: t("shell.group.debug"),
          enabled: () => {
            const { graphId, cursor } = useSession.getState();
            return graphId !== null && cursor.threadId !== null && offOnlyRead() === null;
          },
          run: () => {
            const { threadId } = useSession.getState().cursor;
            if (threadId === null) return;
            askMakeTest({ threadId, title: useRuns.getState().threads.get(threadId)?.title ?? threadId });
          },
        },
      ]),
    [],
  );
  return null;
}
