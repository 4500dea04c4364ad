/** What a question says: its text, what its node did before, for whom it is and until when, and the state it is about. */
import { Clock, TriangleAlert, Users } from "lucide-react";
import { useState } from "react";
import { InlineMarkdown, Markdown } from "../../components/Markdown";
import { beginning } from "../../lib/beginning";
import { fullTime, listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showSettings } from "../../state/settings";
import type { AskedEffect } from "./asked-effect";
import { preview } from "../parts/format";
import { json, Pre } from "../parts/Pre";
import { useNow } from "../parts/useNow";

/** What the node did before: the heading of the question, when it was, and what came of it. */
export function EarlierWork({ effect, compact }: { effect: AskedEffect; compact: boolean }) {
  return (
    <div className="flex flex-col gap-2" data-testid={debugIds.earlierWork}>
      <p className={`flex gap-2 font-semibold ${compact ? "text-sm" : "text-lg"}`}>
        <TriangleAlert size={compact ? 16 : 20} className="mt-0.5 shrink-0 text-asking" aria-hidden />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <InlineMarkdown text={effect.heading} />
        </span>
      </p>
      {(effect.at !== undefined || effect.result !== undefined) && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
          {effect.at !== undefined && (
            <>
              <dt className="text-text-2">{t("debug.effect.at")}</dt>
              <dd className="tabular-nums">{fullTime(effect.at)}</dd>
            </>
          )}
          {effect.result !== undefined && (
            <>
              <dt className="text-text-2">{t("debug.effect.result")}</dt>
              <dd className="min-w-0">
                <Pre>{json(effect.result)}</Pre>
              </dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}

/** For whom the question is, and until when it waits. */
export function Terms({ who, deadline }: { who: string[]; deadline: string | undefined }) {
  const now = useNow(15_000);
  const me = useSession((session) => session.appInfo?.settings.name);
  const same = (name: string) => name.trim().toLowerCase() === me?.trim().toLowerCase();
  const notMe = who.length > 0 && !who.some(same);
  if (who.length === 0 && deadline === undefined) return null;
  const late = deadline !== undefined && Date.parse(deadline) <= now;
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-text-2" data-testid={debugIds.answerTerms}>
      {who.length > 0 && (
        <span className="flex items-center gap-1.5">
          <Users size={13} aria-hidden />
          {t("debug.answer.for", { who: listed(who) })}
          {notMe && (
            <>
              {" · "}
              {me === undefined ? t("debug.answer.nobody") : t("debug.answer.notYou", { me })}{" "}
              <button
                type="button"
                className="text-accent-text underline underline-offset-2"
                onClick={() => showSettings("general")}
              >
                {t("debug.answer.sayWho")}
              </button>
            </>
          )}
        </span>
      )}
      {deadline !== undefined && (
        <span className="flex items-center gap-1.5" title={fullTime(deadline)}>
          <Clock size={13} aria-hidden />
          {t(late ? "debug.answer.late" : "debug.answer.until", { time: fullTime(deadline) })}
        </span>
      )}
    </p>
  );
}

/** Characters of the line that says what is asked. */
const LONGEST_LINE = 1000;
/** Characters of a question that are shown at once: more of them is no question, and a model may write it. */
const LONGEST = 4000;

/** A long text: its beginning as Markdown, and on demand all of it as it was written. */
export function AskedText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (whole) return <Pre>{text}</Pre>;
  return (
    <>
      <Markdown text={beginning(text, LONGEST)} lines />
      {text.length > LONGEST && (
        <button
          type="button"
          className="mt-1 text-accent-text underline underline-offset-2"
          onClick={() => setWhole(true)}
          data-testid={debugIds.wholeQuestion}
        >
          {t("debug.stream.more")}
        </button>
      )}
    </>
  );
}

/** The first line says what is asked; what follows explains. */
export function QuestionText({ text, compact }: { text: string; compact: boolean }) {
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  const first = beginning(line, LONGEST_LINE);
  // A line that was cut is shown again, from its beginning.
  const rest = first === line ? text.slice(line.length + 1) : text;
  const more = rest.trim();
  return (
    <div
      className={`select-text [overflow-wrap:anywhere] ${compact ? "max-h-48 shrink-0 overflow-y-auto" : "max-h-[max(12rem,42vh)] overflow-y-auto"}`}
    >
      <p className={`font-semibold ${compact ? "text-sm" : "text-lg"}`}>
        <InlineMarkdown text={first} />
      </p>
      {more !== "" && (
        <div className={`text-sm ${compact ? "mt-1 text-text-2" : "mt-2"}`}>
          <AskedText text={more} />
        </div>
      )}
    </div>
  );
}

/** The state that the question was asked about; one line of it where there is little room. */
export function Context({ entries, compact }: { entries: [string, unknown][]; compact: boolean }) {
  if (compact) {
    return (
      <dl className="flex max-h-20 flex-wrap gap-x-4 gap-y-0.5 overflow-y-auto text-xs">
        {entries.map(([key, value]) => (
          <div key={key} className="flex max-w-full gap-1.5">
            <dt className="shrink-0 font-mono text-text-2">{key}</dt>
            <dd
              className="select-text truncate"
              title={typeof value === "string" ? value : JSON.stringify(value)}
            >
              {typeof value === "string" ? value : preview(value)}
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <dl className="grid grid-cols-[fit-content(30%)_1fr] gap-x-4 gap-y-1.5 rounded-md bg-surface-1 px-3 py-2.5">
      {entries.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="truncate font-mono text-xs leading-5 text-text-2" title={key}>
            {key}
          </dt>
          <dd className="select-text max-h-[max(6rem,20vh)] min-w-0 overflow-y-auto text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
            {typeof value === "string" ? (
              value
            ) : typeof value === "object" && value !== null ? (
              <pre>{JSON.stringify(value, null, 2)}</pre>
            ) : (
              preview(value)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
