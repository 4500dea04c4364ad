/** The command of evaluations. */
import { useEffect } from "react";
import { offOnlyRead } from "../../debugger/model/only-read";
import { askEvaluations } from "../../debugger/state/asked";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";

export function EvaluationKeeper() {
  useEffect(
    () =>
      registerCommands([
        {
          id: "evaluations.open",
          title: t("evaluations.open"),
          group: t("shell.group.debug"),
          enabled: () => useSession.getState().graphId !== null && offOnlyRead() === null,
          run: () => askEvaluations(true),
        },
      ]),
    [],
  );
  return null;
}
