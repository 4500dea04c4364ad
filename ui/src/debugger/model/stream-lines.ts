/** What the stream log says of a moment, and its logged values as lines. Pure. */
import { isObject } from "../parts/diff";
import type { LogEntry } from "./stream-log";

/** `log` has no level of its own; the last two are what a breakpoint and an invariant log. */
const LEVELS = ["log", "debug", "info", "warn", "error", "breakpoint", "invariant"] as const;
export type Level = (typeof LEVELS)[number];

interface LogLine {
  readonly level: Level;
  readonly text: string;
  /** The item of a node that works through a list, from 0. */
  readonly item?: number;
}

/** What a program logged, as a line; null when the value is none. */
export function logLine(value: unknown): LogLine | null {
  if (!isObject(value) || typeof value.log !== "string") return null;
  const level =
    LEVELS.find((each) => each === value.level) ??
    (value.breakpoint !== undefined ? "breakpoint" : value.invariant !== undefined ? "invariant" : "log");
  return { level, text: value.log, ...(typeof value.item === "number" && { item: value.item }) };
}

interface ProgressLine {
  readonly done: number;
  readonly total?: number;
  readonly text?: string;
}

/** How far a program said that it is; null when the value is none. */
export function progressLine(value: unknown): ProgressLine | null {
  if (!isObject(value) || !isObject(value.progress)) return null;
  const { done, total, text } = value.progress;
  if (typeof done !== "number") return null;
  return {
    done,
    ...(typeof total === "number" && { total }),
    ...(typeof text === "string" && { text }),
  };
}

export interface StreamFilter {
  readonly what: "all" | "logs" | "wrong";
  /** Only of this node. */
  readonly node: string | null;
}

function isWrong(entry: LogEntry): boolean {
  switch (entry.type) {
    case "attempt":
      return true;
    case "task":
      return entry.status === "failed";
    case "run":
      return entry.status === "failed";
    case "custom": {
      const level = logLine(entry.value)?.level;
      return level === "warn" || level === "error" || level === "invariant";
    }
    default:
      return false;
  }
}

/** Entries that the filter wants. */
export function shownEntries(
  entries: readonly LogEntry[],
  { what, node }: StreamFilter,
): readonly LogEntry[] {
  if (what === "all" && node === null) return entries;
  return entries.filter((entry) => {
    if (node !== null && (!("node" in entry) || entry.node !== node)) return false;
    if (what === "all") return true;
    if (what === "wrong") return isWrong(entry);
    return entry.type === "custom" && logLine(entry.value) !== null;
  });
}

/** Ids of the first and the last entry of a moment. */
interface Reach {
  readonly from: number;
  readonly to: number;
}

const taskOf = (entry: LogEntry): string | undefined => ("taskId" in entry ? entry.taskId : undefined);

/**
 * The entries of the moment that the cursor is on: of its task, or of the step that made its checkpoint. Null when the log
 * has none of them.
 */
export function reachOf(
  entries: readonly LogEntry[],
  checkpointId: string | null,
  taskId: string | null,
): Reach | null {
  if (taskId !== null) {
    const first = entries.find((entry) => taskOf(entry) === taskId);
    const last = entries.findLast((entry) => taskOf(entry) === taskId);
    if (first && last) return { from: first.id, to: last.id };
  }
  if (checkpointId === null) return null;
  const at = entries.findLastIndex(
    (entry) => entry.type === "checkpoint" && entry.checkpointId === checkpointId,
  );
  const end = entries[at];
  if (!end) return null;
  let from = at;
  // A run begins where it goes on; what was before it is of another moment.
  while (from > 0 && entries[from - 1]?.type !== "checkpoint" && entries[from]?.type !== "run") from -= 1;
  return { from: entries[from]?.id ?? end.id, to: end.id };
}

interface EntryMoment {
  readonly checkpointId: string;
  readonly taskId: string | null;
}

/**
 * The moment that an entry leads to: a checkpoint itself; of anything else the one that its step began from, with its task.
 * `parentOf` knows where a checkpoint came from, which after a fork is not the one before it in the log.
 */
export function momentOfEntry(
  entries: readonly LogEntry[],
  id: number,
  parentOf: (checkpointId: string) => string | undefined,
): EntryMoment | null {
  const at = entries.findIndex((entry) => entry.id === id);
  const entry = entries[at];
  if (!entry || entry.type === "leftOut") return null;
  if (entry.type === "checkpoint") return { checkpointId: entry.checkpointId, taskId: null };
  const checkpoint = (found: LogEntry | undefined) =>
    found?.type === "checkpoint" ? found.checkpointId : undefined;
  const next = entries.slice(at + 1).find(({ type }) => type === "checkpoint" || type === "run");
  const made = checkpoint(next);
  const before = checkpoint(entries.slice(0, at).findLast(({ type }) => type === "checkpoint"));
  const from = (made === undefined ? undefined : parentOf(made)) ?? before;
  return from === undefined ? null : { checkpointId: from, taskId: taskOf(entry) ?? null };
}
