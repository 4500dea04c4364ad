/** Which Python programs run in, and where that comes from. Nothing is started to find out. */
import { useState } from "react";
import { Field } from "../../components/Field";
import { TextField } from "../../components/TextField";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { rpc } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { useAnswer } from "../../debugger/model/useAnswer";
import { hintClass, settingsPartClass } from "../../components/recipes";
import { cx } from "../../components/cx";

export function PythonSettings() {
  const chosen = useSession((session) => session.appInfo?.settings.python ?? "");
  const graphId = useSession((session) => session.graphId);
  const setSettings = useSession((session) => session.setSettings);
  const [draft, setDraft] = useState(chosen);
  const [kept, setKept] = useState(0);
  const found = useAnswer(`python/${graphId ?? ""}/${kept}`, (signal) =>
    rpc("python.find", graphId === null ? {} : { graphId }, signal),
  );
  const keep = () => {
    if (draft.trim() !== chosen)
      void setSettings({ python: draft.trim() }).then(() => setKept((times) => times + 1));
  };
  const view = found.value;
  return (
    <section className={settingsPartClass}>
      <h3>{t("settings.python")}</h3>
      <Field label={t("settings.python.interpreter")} description={t("settings.python.help")}>
        <TextField
          mono
          value={draft}
          onChange={setDraft}
          onCommit={keep}
          onBlur={keep}
          placeholder={t("settings.python.placeholder")}
          data-testid={formsIds.settingsPython}
        />
      </Field>
      {view?.program !== undefined && (
        <p className={cx(hintClass, "select-text")} data-testid={formsIds.pythonFound}>
          {t(graphId === null ? "settings.python.usesAny" : "settings.python.uses", {
            program: view.program,
          })}{" "}
          {t(`settings.python.${view.chosenBy}`)}
        </p>
      )}
      {view?.problem && <ProblemNote problem={view.problem} />}
      {found.problem && <ProblemNote problem={found.problem} />}
    </section>
  );
}
