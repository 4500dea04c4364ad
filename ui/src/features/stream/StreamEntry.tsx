/** A line of the stream: when, of which node, and what; it leads to its moment and unfolds to its whole text. */
import {
  ChevronDown,
  ChevronRight,
  CircleDot,
  CircleX,
  Ellipsis,
  Info,
  Loader,
  Milestone,
  OctagonPause,
  Play,
  RotateCcw,
  ScrollText,
  ShieldAlert,
  TextQuote,
  TriangleAlert,
} from "lucide-react";
import { memo, type ReactNode, useMemo, useState } from "react";
import { cx } from "../../components/cx";
import { afterAttempt } from "../../debugger/run/Attempts";
import { nodeList, plain, preview, readableError } from "../../debugger/parts/format";
import { Pre } from "../../debugger/parts/Pre";
import { type Level, logLine, progressLine } from "../../debugger/model/stream-lines";
import type { LogEntry, StreamedCall } from "../../debugger/model/stream-log";
import { type AnyStatus, StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { clock, count, duration } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";

/** Texts up to this length are seen whole in a wide panel. */
const SHORT = 60;

interface Props {
  readonly entry: LogEntry;
  /** It is of the moment that the cursor is on. */
  readonly here: boolean;
  /** It came after that. */
  readonly later: boolean;
  onSelect(entry: LogEntry): void;
}

export const StreamEntry = memo(function StreamEntry({ entry, here, later, onSelect }: Props) {
  const [open, setOpen] = useState(false);
  const line = lineOf(entry);
  const { more, level } = line;
  const when = useMemo(() => clock(entry.at), [entry.at]);
  const Arrow = open ? ChevronDown : ChevronRight;
  return (
    <div
      className={cx(
        "px-1 py-0.5 text-xs hover:bg-surface-3",
        here && "bg-accent-soft",
        later && "text-text-2 italic",
      )}
      data-testid={debugIds.streamEntry}
      data-type={entry.type}
      data-level={level}
      data-here={here || undefined}
      data-later={later || undefined}
    >
      <div className="flex min-h-5 items-center gap-1">
        {more === undefined ? (
          <span className="w-4 shrink-0" />
        ) : (
          <button
            type="button"
            className="w-4 shrink-0 rounded-sm text-text-3 hover:text-text"
            aria-expanded={open}
            aria-label={t(open ? "debug.stream.less" : "debug.stream.more")}
            onClick={() => setOpen(!open)}
            data-testid={debugIds.streamMore}
          >
            <Arrow size={13} aria-hidden />
          </button>
        )}
        <button
          type="button"
          className="flex min-w-0 flex-1 items-center gap-2 text-left"
          title={line.text}
          onClick={() => onSelect(entry)}
        >
          <span className="tabular-nums shrink-0 font-mono text-2xs text-text-3">{when}</span>
          <span className={cx("shrink-0", later && "opacity-50")}>{line.mark}</span>
          {line.who !== undefined && (
            <span className="max-w-40 shrink-0 truncate font-medium">{line.who}</span>
          )}
          {level !== undefined && (
            <span className={cx("w-14 shrink-0 truncate text-2xs", LEVELS[level].look)}>
              {t(LEVELS[level].text)}
            </span>
          )}
          <span
            className={cx(
              "min-w-0 flex-1 truncate",
              later || level === undefined || level === "debug" ? "text-text-2" : "text-text",
            )}
          >
            {line.text}
          </span>
          {line.end !== undefined && (
            <span className="tabular-nums shrink-0 text-2xs text-text-3">{line.end}</span>
          )}
        </button>
      </div>
      {open && more !== undefined && (
        <Pre height="whole" className="ml-[86px]">
          {more()}
        </Pre>
      )}
    </div>
  );
});

interface Line {
  mark: ReactNode;
  who?: string;
  text: string;
  end?: string;
  /** Shown whole on a click; put together then, as it grows with each word. */
  more?(): string;
  level?: Level;
}

const quiet = "text-text-3";

// One element each: React leaves alone what is the same, and lines of text come with every frame.
const TEXT = <TextQuote size={13} className={quiet} aria-hidden />;
const DOT = <CircleDot size={13} className={quiet} aria-hidden />;
const LOADER = <Loader size={13} className={quiet} aria-hidden />;
const MILESTONE = <Milestone size={13} className={quiet} aria-hidden />;

const LEVELS: Record<Level, { readonly text: TextKey; readonly look: string; readonly mark: ReactNode }> = {
  log: {
    text: "debug.level.log",
    look: "text-text-3",
    mark: <ScrollText size={13} className="text-text-3" aria-hidden />,
  },
  debug: {
    text: "debug.level.debug",
    look: "text-text-3",
    mark: <ScrollText size={13} className="text-text-3" aria-hidden />,
  },
  info: {
    text: "debug.level.info",
    look: "text-running",
    mark: <Info size={13} className="text-running" aria-hidden />,
  },
  warn: {
    text: "debug.level.warn",
    look: "text-asking",
    mark: <TriangleAlert size={13} className="text-asking" aria-hidden />,
  },
  error: {
    text: "debug.level.error",
    look: "text-failed",
    mark: <CircleX size={13} className="text-failed" aria-hidden />,
  },
  breakpoint: {
    text: "debug.level.breakpoint",
    look: "text-paused",
    mark: <OctagonPause size={13} className="text-paused" aria-hidden />,
  },
  invariant: {
    text: "debug.level.invariant",
    look: "text-failed",
    mark: <ShieldAlert size={13} className="text-failed" aria-hidden />,
  },
};

/** What a program said: a line of its log, how far it is, or a value of its own. */
function customLine(node: string, value: unknown): Line {
  const log = logLine(value);
  if (log) {
    const { level, text, item } = log;
    return {
      mark: LEVELS[level].mark,
      who: item === undefined ? node : t("debug.stream.item", { node, n: item + 1 }),
      text: plain(text, 400),
      level,
      // A line that is seen whole needs no unfolding.
      ...((text.includes("\n") || text.length > SHORT) && { more: () => text }),
    };
  }
  const progress = progressLine(value);
  if (progress) {
    const { done, total, text } = progress;
    const far = total === undefined ? count(done) : t("debug.stream.progress", { done, total });
    return {
      mark: LOADER,
      who: node,
      text: text === undefined ? far : `${far} · ${text}`,
    };
  }
  return {
    mark: DOT,
    who: node,
    text: preview(value, 200),
    more: () => JSON.stringify(value, null, 2),
  };
}

const callText = (call: StreamedCall): string => `${call.name}(${call.args})`;

function lineOf(entry: LogEntry): Line {
  switch (entry.type) {
    case "task":
      return {
        mark: <StatusMark status={entry.status} size={13} />,
        who: entry.node,
        text:
          (entry.error === undefined ? undefined : readableError(entry.error)) ??
          (entry.cached ? t("debug.stream.kept") : t("debug.stepN", { n: entry.step })),
        ...(entry.millis !== undefined && { end: duration(entry.millis) }),
        ...(entry.error !== undefined && { more: () => entry.error ?? "" }),
      };
    case "text":
      return {
        mark: TEXT,
        who: entry.node,
        text: (entry.text || entry.calls.map(callText).join(" ") || entry.reasoning)
          .slice(-200)
          .replaceAll("\n", " "),
        more: () =>
          [
            ...(entry.reasoning === "" ? [] : [`${t("debug.reasoning")}: ${entry.reasoning}`]),
            ...(entry.text === "" ? [] : [entry.text]),
            ...entry.calls.map(callText),
          ].join("\n\n"),
      };
    case "attempt": {
      const error = readableError(entry.attempt.error);
      return {
        mark: <RotateCcw size={13} className="text-failed" aria-hidden />,
        who: entry.node,
        text: t("debug.attempts.failed", {
          n: entry.attempt.attempt,
          error,
          next: afterAttempt(entry.attempt),
        }),
        more: () => error,
      };
    }
    case "custom":
      return customLine(entry.node, entry.value);
    case "checkpoint":
      return {
        mark: MILESTONE,
        text: `${t("debug.checkpointN", { n: entry.step })}${entry.next.length > 0 ? ` → ${nodeList(entry.next)}` : ""}`,
      };
    case "run":
      return {
        mark:
          entry.status === "running" ? (
            <Play size={13} className="text-running" aria-hidden />
          ) : (
            <StatusMark status={entry.status as AnyStatus} size={13} />
          ),
        text:
          entry.status === "running"
            ? t("debug.stream.begun")
            : `${statusText(entry.status as AnyStatus)}${entry.message === undefined ? "" : `: ${entry.message}`}`,
      };
    case "leftOut":
      return {
        mark: <Ellipsis size={13} className={quiet} aria-hidden />,
        text: t("debug.stream.leftOut"),
      };
  }
}
