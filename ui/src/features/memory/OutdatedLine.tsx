/** A line about items that a search by similarity cannot find, with the way to have them found; nothing when there are none. */
import { useEffect, useRef } from "react";
import { Button } from "../../components/Button";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { count } from "../../lib/intl";
import { memoryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { stopJob, useJobs } from "../../state/jobs";
import { NGRAMS } from "./settings";
import { embedAgain, readOutdated, useReembedding } from "./reembedding";

/** Work of another window is looked at so often. */
const LOOK_EVERY = 1000;

export function OutdatedLine({ onDone }: { onDone?: () => void }) {
  const embedding = useSession((session) => session.appInfo?.settings.memory?.embedding);
  const { outdated, work, problem } = useReembedding();
  const going = work ?? outdated?.work ?? null;
  const elsewhere = work === null && going !== null;
  useEffect(() => void readOutdated(), [embedding]);
  useEffect(() => {
    if (!elsewhere) return;
    const timer = setTimeout(() => void readOutdated(), LOOK_EVERY);
    return () => clearTimeout(timer);
  }, [elsewhere, outdated]);
  const before = useRef(going);
  useEffect(() => {
    if (before.current !== null && going === null) onDone?.();
    before.current = going;
  }, [going, onDone]);

  if (embedding === undefined || outdated === null || (outdated.items === 0 && going === null)) return null;
  return (
    <>
      <div
        className="flex shrink-0 items-center gap-2 min-h-7 pl-2 border-l-2 border-line-strong text-xs/[17px] text-text-2 [&>p]:min-w-0 [&>p]:wrap-anywhere [&>p]:text-pretty [&>button]:shrink-0 [&>button]:ml-auto"
        data-testid={memoryIds.outdated}
      >
        {going === null ? (
          <p role="status">
            {outdatedText(outdated.items, outdated.more)}
            {embedding !== NGRAMS && ` ${t("memory.outdated.sent", { model: embedding })}`}
          </p>
        ) : (
          <>
            <Spinner />
            <p role="status">{t("memory.outdated.going")}</p>
            <Far work={going} left={outdated.items} more={outdated.more} />
          </>
        )}
        {/* One button, so that the keyboard stays where it is. */}
        <Button size="small" onClick={() => (going === null ? void embedAgain() : stopJob(going))}>
          {t(going === null ? "memory.outdated.start" : "storage.stop")}
        </Button>
      </div>
      {problem && going === null && <ProblemNote problem={problem} />}
    </>
  );
}

/** How far it is: of this window's work what is done, of another's what is left. */
function Far({ work, left, more }: { work: string; left: number; more: boolean }) {
  const progress = useJobs(({ going }) => going.get(work));
  const text =
    progress === undefined
      ? t(more ? "memory.outdated.leftMore" : "memory.outdated.left", { n: count(left) })
      : progress.total > 0
        ? t("storage.of", { done: count(progress.done), total: count(progress.total) })
        : progress.done > 0
          ? t("memory.outdated.soFar", { n: count(progress.done) })
          : "";
  return <span className="tabular-nums">{text}</span>;
}

function outdatedText(items: number, more: boolean): string {
  if (more) return t("memory.outdated.more", { n: count(items) });
  return tn("memory.outdated.one", "memory.outdated.many", items);
}
