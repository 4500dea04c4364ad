/** Whether the history of answers is as it was noted: what was found, and what that protects against. */
import { CircleAlert, CircleCheck } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import type { AnswersVerified } from "../../ipc/bindings/AnswersVerified";
import type { ChainFault } from "../../ipc/bindings/ChainFault";
import { rpc } from "../../ipc/client";
import { fullTime } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { showProblem } from "../../state/toasts";

function inWords(fault: ChainFault): string {
  switch (fault.kind) {
    case "answerChanged":
      return t("debug.chain.changed", { answer: fault.answer, time: fullTime(fault.at) });
    case "answerMissing":
      return t("debug.chain.missing", { answer: fault.answer, time: fullTime(fault.at) });
    case "answerAdded":
      return t("debug.chain.added", { answer: fault.answer });
    case "entryChanged":
      return t("debug.chain.entry", { entry: fault.entry });
    case "entriesMissing":
      return t("debug.chain.gap", { entry: fault.before });
    case "hashNotThere":
      return t("debug.chain.noHash");
  }
}

export function ChainDialog({ onClose }: { onClose(): void }) {
  const [noted, setNoted] = useState("");
  const [found, setFound] = useState<AnswersVerified | null>(null);
  useEffect(() => {
    let isOver = false;
    rpc("answers.verify", { noted }).then(
      (verified) => {
        if (!isOver) setFound(verified);
      },
      (problem: unknown) => {
        if (!isOver) showProblem(problem);
      },
    );
    return () => {
      isOver = true;
    };
  }, [noted]);
  const more = found === null ? 0 : found.faultCount - found.faults.length;
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title={t("debug.chain.title")}
      description={t("debug.chain.text")}
      actions={<Button onClick={onClose}>{t("debug.chain.close")}</Button>}
      data-testid={debugIds.chain}
    >
      {found === null ? (
        <Spinner label={t("debug.loading")} />
      ) : (
        <div className="flex flex-col gap-3 text-sm">
          <p className="flex items-start gap-2" role="status">
            {found.faultCount === 0 ? (
              <CircleCheck size={16} className="mt-0.5 shrink-0 text-done" aria-hidden />
            ) : (
              <CircleAlert size={16} className="mt-0.5 shrink-0 text-failed" aria-hidden />
            )}
            {found.faultCount === 0
              ? tn("debug.chain.soundOne", "debug.chain.sound", found.entries)
              : tn("debug.chain.faultsOne", "debug.chain.faults", found.faultCount)}
          </p>
          {found.faults.length > 0 && (
            <ul
              className="flex max-h-48 flex-col gap-1 overflow-y-auto rounded-md bg-failed-soft px-3 py-2"
              tabIndex={0}
            >
              {found.faults.map((fault, at) => (
                <li key={at} className="select-text [overflow-wrap:anywhere]">
                  {inWords(fault)}
                </li>
              ))}
              {more > 0 && <li>{t("debug.chain.more", { n: more })}</li>}
            </ul>
          )}
          {found.head !== "" && (
            <div className="flex flex-col gap-1 text-xs text-text-2">
              {t("debug.chain.head")}
              <div className="flex items-center gap-1">
                <code className="select-text min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
                  {found.head}
                </code>
                <CopyAnswer text={() => found.head} />
              </div>
            </div>
          )}
          <label className="flex flex-col gap-1 text-xs text-text-2">
            {t("debug.chain.noted")}
            <TextField mono value={noted} onChange={setNoted} data-testid={debugIds.chainNoted} />
          </label>
        </div>
      )}
    </Dialog>
  );
}
