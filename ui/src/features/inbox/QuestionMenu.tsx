/** What else can be done with a question: put it off, or withdraw it, with a reason, after a short question back. */
import {
  AlarmClock,
  AlarmClockOff,
  ArrowUpFromLine,
  Ellipsis,
  Undo2,
  UserRoundCheck,
  UserRoundX,
} from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { IconButton } from "../../components/IconButton";
import { Menu } from "../../components/Menu";
import { offOnlyRead } from "../../debugger/model/only-read";
import { DELEGATE, type DelegateHow, WITHDRAW, withdraw } from "../../debugger/run/answering";
import { headline } from "../../debugger/answers/asked-effect";
import type { Question } from "../../ipc/bindings/Question";
import { debugIds, formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { inputClass } from "../../components/recipes";
import { cx } from "../../components/cx";
import { DelegateDialog, handTo } from "./DelegateDialog";
import { snooze } from "./snoozes";

interface Props {
  question: Question;
  /** All that are put off together; where that is not offered, none. */
  questions?: readonly Question[];
}

export function QuestionMenu({ question, questions = [] }: Props) {
  const [asking, setAsking] = useState(false);
  const [handing, setHanding] = useState<DelegateHow | null>(null);
  const [first, ...others] = questions;
  const isHanded = questions.some(({ delegation }) => delegation !== undefined);
  useEffect(() => {
    const hand = (event: Event) => {
      if (!(event instanceof CustomEvent) || offOnlyRead()) return;
      if (event.detail === "back") void handTo(questions, []);
      else setHanding(event.detail as DelegateHow);
    };
    window.addEventListener(DELEGATE, hand);
    return () => window.removeEventListener(DELEGATE, hand);
  }, [questions]);
  useEffect(() => {
    const ask = () => setAsking(true);
    window.addEventListener(WITHDRAW, ask);
    return () => window.removeEventListener(WITHDRAW, ask);
  }, []);
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton size="small" label={t("debug.inbox.menu")} data-testid={debugIds.questionMenu}>
            <Ellipsis size={15} aria-hidden />
          </IconButton>
        }
        entries={[
          ...(questions.length === 0
            ? []
            : [
                {
                  id: "snooze-hour",
                  label: t("debug.snooze.hour"),
                  icon: <AlarmClock size={14} aria-hidden />,
                  run: () => void snooze(questions, "hour"),
                },
                {
                  id: "snooze-tomorrow",
                  label: t("debug.snooze.tomorrow"),
                  icon: <AlarmClock size={14} aria-hidden />,
                  run: () => void snooze(questions, "tomorrow"),
                },
                {
                  id: "wake",
                  label: t("debug.snooze.end"),
                  icon: <AlarmClockOff size={14} aria-hidden />,
                  run: () => void snooze(questions, "end"),
                },
                {
                  id: "delegate",
                  label: t("debug.hand.delegate"),
                  icon: <UserRoundCheck size={14} aria-hidden />,
                  off: offOnlyRead(),
                  run: () => setHanding("delegate"),
                },
                {
                  id: "escalate",
                  label: t("debug.hand.escalate"),
                  icon: <ArrowUpFromLine size={14} aria-hidden />,
                  off: offOnlyRead(),
                  run: () => setHanding("escalate"),
                },
                ...(isHanded
                  ? [
                      {
                        id: "hand-back",
                        label: t("debug.hand.back"),
                        icon: <UserRoundX size={14} aria-hidden />,
                        off: offOnlyRead(),
                        run: () => void handTo(questions, []),
                      },
                    ]
                  : []),
              ]),
          ...(questions.length > 1
            ? []
            : [
                {
                  id: "withdraw",
                  label: t("debug.withdraw"),
                  icon: <Undo2 size={14} aria-hidden />,
                  off: offOnlyRead(),
                  run: () => setAsking(true),
                },
              ]),
        ]}
      />
      {handing !== null && first && (
        <DelegateDialog questions={[first, ...others]} how={handing} onClose={() => setHanding(null)} />
      )}
      {asking && <WithdrawDialog question={question} onClose={() => setAsking(false)} />}
    </>
  );
}

function WithdrawDialog({ question, onClose }: { question: Question; onClose(): void }) {
  const [why, setWhy] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const confirm = () => {
    onClose();
    void withdraw(question, why);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("debug.withdraw.title")}
      description={t("debug.withdraw.text", { text: headline(question) })}
      initialFocus={field}
      actions={
        <>
          <Button onClick={onClose}>{t("debug.cancel")}</Button>
          <Button variant="danger" onClick={confirm} data-testid={formsIds.confirm}>
            {t("debug.withdraw.confirm")}
          </Button>
        </>
      }
    >
      <label className="flex flex-col gap-1 text-xs text-text-2">
        {t("debug.withdraw.why")}
        <input
          ref={field}
          className={cx(inputClass, "px-2 text-sm")}
          spellCheck
          value={why}
          onChange={(event) => setWhy(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.repeat) confirm();
          }}
          data-testid={debugIds.withdrawWhy}
        />
      </label>
    </Dialog>
  );
}
