/**
 * Answers that no thread has yet, below the questions: how long each can still be taken back, and what it waits for after
 * that.
 */
import { Hourglass, Undo2 } from "lucide-react";
import { Button } from "../../components/Button";
import { beginning } from "../../lib/beginning";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";
import type { Held } from "../model/inbox";
import { useNow } from "../parts/useNow";
import { giveNow, heldLast, takeBack } from "../run/answering";

/** Characters of an answer in a line. */
const LONGEST_ANSWER = 40;

const shown = (answer: unknown): string =>
  beginning(typeof answer === "string" ? answer : JSON.stringify(answer), LONGEST_ANSWER);

export function HeldAnswers({ held }: { held: readonly Held[] }) {
  const now = useNow(held.length > 0 ? 500 : null);
  const newest = held.at(-1);
  if (!newest) return null;
  const wait = Math.max(0, ...held.map(({ until }) => Math.ceil((until - now) / 1000)));
  const timed = held.filter(({ until }) => until > now);
  return (
    <div
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-t border-line bg-surface-4 px-4 py-2 text-xs"
      role="status"
      data-testid={debugIds.held}
      data-held={held.length}
    >
      <Hourglass size={14} className="shrink-0 text-text-2" aria-hidden />
      <p className="min-w-0 flex-1 basis-40 truncate" title={newest.text}>
        <span className="font-medium">{shown(newest.answer)}</span>
        {" · "}
        {held.length === 1
          ? newest.text.split("\n", 1)[0]
          : tn("debug.held.one", "debug.held.many", held.length)}
      </p>
      <span className="tabular-nums shrink-0 text-text-2">
        {wait > 0 ? t("debug.held.left", { n: wait }) : t("debug.held.waits")}
      </span>
      <span className="flex shrink-0 gap-1">
        <Button
          size="small"
          icon={<Undo2 size={14} aria-hidden />}
          shortcut={shortcutOf("run.takeBack")}
          onClick={() => void takeBack(heldLast())}
          data-testid={debugIds.takeBack}
        >
          {t("debug.held.back")}
        </Button>
        {timed.length > 0 && (
          <Button
            size="small"
            variant="ghost"
            onClick={() => void giveNow(timed.map(({ id }) => id))}
            data-testid={debugIds.giveNow}
          >
            {t("debug.held.now")}
          </Button>
        )}
      </span>
    </div>
  );
}
