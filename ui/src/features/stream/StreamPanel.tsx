/** Everything that comes over the stream of the selected thread, with its time: tasks, text, custom events, checkpoints. */
import { CircleDot, Ellipsis, Eraser, Milestone, Play, Radio, RotateCcw, TextQuote } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Switch } from "../../components/Switch";
import { afterAttempt } from "../../debugger/run/Attempts";
import { nodeList, preview, readableError } from "../../debugger/parts/format";
import { Pre } from "../../debugger/parts/Pre";
import { ensureStarted, streamLog } from "../../debugger/model/runStore";
import type { LogEntry, StreamedCall } from "../../debugger/model/stream-log";
import { type AnyStatus, StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { useStreamLog } from "../../debugger/model/useStreamLog";
import { clock, duration } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { FollowList } from "./FollowList";

export function StreamPanel() {
  useEffect(ensureStarted, []);
  const threadId = useSession((session) => session.cursor.threadId);
  const entries = useStreamLog(threadId);
  const [follow, setFollow] = useState(true);
  if (threadId === null || entries.length === 0) {
    return (
      <EmptyState compact icon={<Radio size={20} aria-hidden />} title={t("debug.stream.none")}>
        {t("debug.stream.noneText")}
      </EmptyState>
    );
  }
  return (
    <section
      className="flex h-full min-h-0 flex-col"
      aria-label={t("debug.stream")}
      data-testid={debugIds.stream}
    >
      <FollowBar follow={follow} onFollow={setFollow}>
        <Button
          size="small"
          variant="ghost"
          icon={<Eraser size={13} aria-hidden />}
          onClick={() => streamLog.clear(threadId)}
        >
          {t("debug.clear")}
        </Button>
      </FollowBar>
      <FollowList
        items={entries}
        keyOf={(entry) => entry.id}
        estimate={24}
        follow={follow}
        onFollow={setFollow}
        label={t("debug.stream")}
      >
        {(entry) => <Entry entry={entry} />}
      </FollowList>
    </section>
  );
}

export function FollowBar({
  follow,
  onFollow,
  children,
}: {
  follow: boolean;
  onFollow(follow: boolean): void;
  children?: ReactNode;
}) {
  return (
    <div className="flex h-8 shrink-0 items-center gap-3 border-b border-line px-3">
      <label className="flex items-center gap-2 text-xs text-text-2">
        <Switch checked={follow} onChange={onFollow} aria-label={t("debug.follow")} />
        {t("debug.follow")}
      </label>
      <span className="flex-1" />
      {children}
    </div>
  );
}

function Entry({ entry }: { entry: LogEntry }) {
  const [open, setOpen] = useState(false);
  const line = lineOf(entry);
  const more = line.more;
  return (
    <div
      className={`px-3 py-0.5 text-xs ${more !== undefined ? "hover:bg-surface-3" : ""}`}
      data-testid={debugIds.streamEntry}
      data-type={entry.type}
      onClick={() => more !== undefined && setOpen(!open)}
    >
      <div className="flex min-h-5 items-center gap-2">
        <span className="tabular-nums shrink-0 font-mono text-2xs text-text-3">{clock(entry.at)}</span>
        <span className="shrink-0">{line.mark}</span>
        {line.who !== undefined && <span className="max-w-40 shrink-0 truncate font-medium">{line.who}</span>}
        <span className={`min-w-0 flex-1 ${open ? "" : "truncate"} text-text-2`}>{line.text}</span>
        {line.end !== undefined && (
          <span className="tabular-nums shrink-0 text-2xs text-text-3">{line.end}</span>
        )}
      </div>
      {open && more !== undefined && (
        <Pre height="whole" className="ml-[86px]">
          {more}
        </Pre>
      )}
    </div>
  );
}

interface Line {
  mark: ReactNode;
  who?: string;
  text: string;
  end?: string;
  /** Shown whole on a click. */
  more?: string;
}

const quiet = "text-text-3";

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
        ...(entry.error !== undefined && { more: entry.error }),
      };
    case "text":
      return {
        mark: <TextQuote size={13} className={quiet} aria-hidden />,
        who: entry.node,
        text: (entry.text || entry.calls.map(callText).join(" ") || entry.reasoning)
          .slice(-200)
          .replaceAll("\n", " "),
        more: [
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
        more: error,
      };
    }
    case "custom":
      return {
        mark: <CircleDot size={13} className={quiet} aria-hidden />,
        who: entry.node,
        text: preview(entry.value, 200),
        more: JSON.stringify(entry.value, null, 2),
      };
    case "checkpoint":
      return {
        mark: <Milestone size={13} className={quiet} aria-hidden />,
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
