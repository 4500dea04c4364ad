/** What happened on a thread becomes a row of a data set. */
import { useEffect, useState } from "react";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { Select } from "../../components/Select";
import { helpClass } from "../../components/recipes";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { askAddRow, askEvaluations, useAsked, type TestedThread } from "../../debugger/state/asked";
import { rpc } from "../../ipc/client";
import { evaluationsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { loadEvaluations, showEvaluation, useEvaluations } from "./store";

export function AddRowDialog() {
  const asked = useAsked((store) => store.addRow);
  return asked === null ? null : <AddRow key={asked.threadId} thread={asked} />;
}

const close = () => askAddRow(null);

function AddRow({ thread: { threadId, title, checkpointId } }: { thread: TestedThread }) {
  const graphId = useSession((session) => session.graphId);
  const list = useEvaluations((store) => store.list);
  const shown = useEvaluations((store) => store.shown);
  const [row, setRow] = useState(title);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  useEffect(() => void loadEvaluations(graphId), [graphId]);
  const options = (list?.evaluations ?? [])
    .filter(({ error }) => error === undefined)
    .map(({ name, about }) => ({ value: name, label: name, description: about }));
  const name = options.some(({ value }) => value === shown) ? (shown ?? undefined) : options[0]?.value;
  const save = async () => {
    if (graphId === null || name === undefined) return;
    setBusy(true);
    setProblem(null);
    try {
      await rpc("evaluation.add", {
        graphId,
        name,
        threadId,
        row: row.trim(),
        ...(checkpointId !== undefined && { checkpointId }),
      });
      close();
      showToast({
        tone: "done",
        text: t("evaluations.added", { row: row.trim(), name }),
        action: { label: t("evaluations.show"), run: () => askEvaluations(true) },
      });
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={t("evaluations.addTitle", { title })}
      description={t("evaluations.addText")}
      size="small"
      onClose={close}
      save={t("evaluations.addSave")}
      isDone={name !== undefined && row.trim() !== ""}
      busy={busy}
      onSave={() => void save()}
      saveTestId={evaluationsIds.addSave}
      className="gap-3"
      data-testid={evaluationsIds.add}
    >
      {problem && <ProblemNote problem={problem} />}
      {list !== null && options.length === 0 ? (
        <p className={helpClass}>{t("evaluations.noneText")}</p>
      ) : (
        <Field label={t("evaluations.one")}>
          <Select value={name} options={options} onChange={showEvaluation} />
        </Field>
      )}
      <Field label={t("evaluations.rowName")} required>
        <TextField value={row} onChange={setRow} data-testid={evaluationsIds.addName} />
      </Field>
    </FormDialog>
  );
}
