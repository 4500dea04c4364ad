/** Asks what would have been: rows of changes from one moment, what grades the results, and how much they may use. */
import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Fold } from "../../components/Fold";
import { noteGrid } from "../../debugger/model/what-ifs";
import { useRuns } from "../../debugger/model/runStore";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { doc } from "../../document/store";
import { flush } from "../../document/open-graph";
import { rpc } from "../../ipc/client";
import { whatIfIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { notAllowed, trusted } from "../../state/trust";
import { askWhatIf, useWhatIfAsked, type WhatIfAsked } from "../../state/what-if";
import { registerWhatIfCommands } from "./commands";
import { type Draft, draftOf, gridOf, isReady, newChange, newRow, settingsOf } from "./draft";
import { Options } from "./Options";
import { RowEditor } from "./RowEditor";
import { useMomentState } from "./useMomentState";

export function WhatIfDialog() {
  const asked = useWhatIfAsked((store) => store.asked);
  useEffect(registerWhatIfCommands, []);
  if (asked === null) return null;
  return <Ask key={`${asked.threadId} ${asked.checkpointId ?? ""}`} asked={asked} />;
}

/** What the form begins with: the grid that is asked for, or one change where the person came from, beside none. */
function begun({ grid, node, key }: WhatIfAsked): Draft {
  if (grid) return draftOf(grid);
  const settings = node === undefined ? [] : nodeSettings(node);
  const first = settings.find(({ label }) => /(prompt|system)$/.test(label)) ?? settings[0];
  const change =
    first !== undefined
      ? newChange("setting", first.pointer, first.value)
      : newChange(
          "value",
          key?.name,
          key?.value === undefined && key?.declared === "string" ? "" : key?.value,
        );
  return { ...draftOf({ rows: [] }), rows: [newRow(), newRow([change])] };
}

const nodeSettings = (node: string) => settingsOf([[node, doc.get(`node:${node}`)]]);

function Ask({ asked }: { asked: WhatIfAsked }) {
  const { threadId, checkpointId } = asked;
  const [draft, setDraft] = useState(() => begun(asked));
  // Where it was asked about a key or a node, what is typed first is the new value.
  const [typed] = useState(() =>
    asked.grid ? undefined : draft.rows[1]?.changes.find(({ name }) => name !== "")?.id,
  );
  const [marked, setMarked] = useState(false);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const state = useMomentState(threadId, checkpointId);
  const step = useRuns(
    (store) => store.checkpoints.get(threadId)?.list.find(({ id }) => id === checkpointId)?.step,
  );
  const close = () => askWhatIf(null);
  const change = (next: Partial<Draft>) => setDraft((draft) => ({ ...draft, ...next }));
  const run = async () => {
    setMarked(true);
    if (!isReady(draft) || sending) return;
    setSending(true);
    setProblem(null);
    try {
      await flush();
      const { graphId } = useSession.getState();
      const grid = await trusted(() =>
        rpc("whatIf.start", {
          threadId,
          ...(checkpointId !== null && { checkpointId }),
          ...(graphId !== null && { graphId }),
          grid: gridOf(draft),
        }),
      );
      noteGrid(grid, graphId);
      useSession.getState().setUse("debug");
      useSession.getState().showTab("bottom", "what-if", "debug");
      close();
    } catch (thrown) {
      if (!notAllowed(thrown)) setProblem(asProblem(thrown));
    } finally {
      setSending(false);
    }
  };
  return (
    <Dialog
      open
      onClose={close}
      title={checkpointId === null ? t("whatIf.titleNow") : t("whatIf.title", { step: step ?? "?" })}
      description={t("whatIf.text")}
      size="large"
      data-testid={whatIfIds.dialog}
      actions={
        <>
          {marked && !isReady(draft) && (
            <span className="mr-auto self-center text-xs text-failed" role="alert">
              {t("whatIf.invalid")}
            </span>
          )}
          <Button onClick={close}>{t("whatIf.cancel")}</Button>
          <Button
            variant="primary"
            disabled={sending || draft.rows.length === 0}
            onClick={() => void run()}
            data-testid={whatIfIds.run}
          >
            {tn("whatIf.runOne", "whatIf.run", draft.rows.length)}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-2">
        {draft.rows.map((row, at) => (
          <RowEditor
            key={row.id}
            row={row}
            number={at + 1}
            marked={marked}
            state={state}
            typed={typed}
            onChange={(next) => change({ rows: draft.rows.map((one) => (one.id === row.id ? next : one)) })}
            onAdd={(rows) => change({ rows: draft.rows.toSpliced(at + 1, 0, ...rows) })}
            onReplace={(rows) => change({ rows: draft.rows.toSpliced(at, 1, ...rows) })}
            onRemove={() => change({ rows: draft.rows.filter((one) => one.id !== row.id) })}
          />
        ))}
        <div>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => change({ rows: [...draft.rows, newRow([newChange("value")])] })}
            data-testid={whatIfIds.addRow}
          >
            {t("whatIf.addRow")}
          </Button>
        </div>
        <Fold head={t("whatIf.options")} className="rounded-md text-sm" begin={asked.grid !== undefined}>
          {() => <Options draft={draft} threadId={threadId} checkpointId={checkpointId} onChange={change} />}
        </Fold>
        {problem && <ProblemNote problem={problem} />}
      </div>
    </Dialog>
  );
}
