/** Hands questions to named people: in place of those who are asked, or besides them. Names are said, and nobody proves them. */
import { useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { inputClass } from "../../components/recipes";
import { cx } from "../../components/cx";
import { headline } from "../../debugger/answers/asked-effect";
import { loadInbox } from "../../debugger/model/inbox";
import type { DelegateHow } from "../../debugger/run/answering";
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { debugIds, formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showProblem } from "../../state/toasts";
import { placeOf } from "./snoozes";

interface Props {
  questions: readonly [Question, ...Question[]];
  how: DelegateHow;
  onClose(): void;
}

const namesIn = (text: string): string[] =>
  text
    .split(/[,;，；、]/u)
    .map((name) => name.trim())
    .filter(Boolean);

/** Names the people who are to answer; without names, those who are asked by their graph are again. */
export async function handTo(
  questions: readonly Question[],
  to: readonly string[],
  { escalate = false, why = "" } = {},
): Promise<void> {
  try {
    await rpc("question.delegate", { questions: questions.map(placeOf), to: [...to], escalate, why });
    await loadInbox();
  } catch (problem) {
    showProblem(problem);
  }
}

export function DelegateDialog({ questions, how, onClose }: Props) {
  const [names, setNames] = useState("");
  const [why, setWhy] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const to = namesIn(names);
  const confirm = () => {
    if (to.length === 0) return;
    onClose();
    void handTo(questions, to, { escalate: how === "escalate", why });
  };
  const row = (label: string, value: string, set: (text: string) => void, testId: string) => (
    <label className="flex flex-col gap-1 text-xs text-text-2">
      {label}
      <input
        {...(set === setNames && { ref: field })}
        className={cx(inputClass, "px-2 text-sm")}
        spellCheck={set !== setNames}
        value={value}
        onChange={(event) => set(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.repeat) confirm();
        }}
        data-testid={testId}
      />
    </label>
  );
  const text =
    questions.length === 1 ? headline(questions[0]) : t("debug.alike.many", { n: questions.length });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t(`debug.hand.${how}.title`)}
      description={t(`debug.hand.${how}.text`, { text })}
      initialFocus={field}
      actions={
        <>
          <Button onClick={onClose}>{t("debug.cancel")}</Button>
          <Button
            variant="primary"
            disabled={to.length === 0}
            onClick={confirm}
            data-testid={formsIds.confirm}
          >
            {t(`debug.hand.${how}.confirm`)}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {row(t("debug.hand.to"), names, setNames, debugIds.handTo)}
        {row(t("debug.hand.why"), why, setWhy, debugIds.handWhy)}
      </div>
    </Dialog>
  );
}
