/** The tasks of a step that were each sent a packet, as a table: what of them is shown, filtered and sorted. Pure. */
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { isObject } from "../parts/diff";
import { plain, readableError } from "../parts/format";

export type PacketColumn = "status" | "input" | "result" | "attempts" | "millis";

export interface PacketSort {
  readonly column: PacketColumn;
  readonly down: boolean;
}

export interface PacketRow {
  readonly task: TaskView;
  /** Its place in the step, from 1. */
  readonly n: number;
  readonly input: string;
  readonly result: string;
  /** Attempts that failed before it ended, or before the one that is on. */
  readonly retries: number;
}

const MOST_TEXT = 400;
const ORDER: Record<TaskView["status"], number> = { failed: 0, asking: 1, running: 3, waiting: 4, done: 5 };
const RETRIED = 2;

const rank = ({ task, retries }: PacketRow): number =>
  retries > 0 ? Math.min(ORDER[task.status], RETRIED) : ORDER[task.status];

/** Failed first, then what was tried again, then as they were sent. */
export const FAILED_FIRST: PacketSort = { column: "status", down: false };

/** An object with one member is read by that member: `{item: 137}` is 137. */
function only(value: unknown): unknown {
  const inner = isObject(value) ? Object.values(value) : [];
  return inner.length === 1 ? inner[0] : value;
}

const shown = (view: ValueView | undefined): string =>
  view === undefined
    ? ""
    : view.value === undefined
      ? `${view.head ?? view.kind}…`
      : plain(only(view.value), MOST_TEXT);

/** Questions and errors stand where the result would. */
function resultOf(task: TaskView): string {
  if (task.error !== undefined && task.status !== "done") return plain(readableError(task.error), MOST_TEXT);
  const [question] = task.interrupts;
  if (task.status === "asking" && question) {
    const { value } = question as { value: unknown };
    return plain(isObject(value) && typeof value.question === "string" ? value.question : value, MOST_TEXT);
  }
  return shown(task.result);
}

export const packetRows = (tasks: readonly TaskView[]): PacketRow[] =>
  tasks.map((task, at) => ({
    task,
    n: at + 1,
    input: shown(task.packet),
    result: resultOf(task),
    retries: task.attempts?.length ?? 0,
  }));

/** A minus is written in several ways. */
const folded = (text: string): string => text.toLowerCase().replaceAll("\u2212", "-");

/** Rows that have all the words somewhere. */
export function filteredPackets(rows: readonly PacketRow[], words: string): readonly PacketRow[] {
  const wanted = folded(words).split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return rows;
  return rows.filter(({ input, result, task }) => {
    const errors = (task.attempts ?? []).map(({ error }) => error).join("\n");
    const text = folded(`${input}\n${result}\n${task.status}\n${task.targets.join(" ")}\n${errors}`);
    return wanted.every((word) => text.includes(word));
  });
}

/** Numbers by value, other texts by their letters. */
function byText(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && Number.isFinite(x) && Number.isFinite(y)) return x - y;
  return a.localeCompare(b, "en", { numeric: true });
}

export function sortedPackets(
  rows: readonly PacketRow[],
  { column, down }: PacketSort,
): readonly PacketRow[] {
  const by = (a: PacketRow, b: PacketRow): number => {
    if (column === "status") return rank(a) - rank(b);
    if (column === "attempts") return a.retries - b.retries;
    if (column === "millis") return (a.task.millis ?? -1) - (b.task.millis ?? -1);
    return byText(a[column], b[column]);
  };
  return rows.toSorted((a, b) => (down ? by(b, a) : by(a, b)) || a.n - b.n);
}

/** Tasks of a node that are better read as a table: more than a few of them, each with an input of its own. */
export const isMany = (tasks: readonly TaskView[]): boolean =>
  tasks.length > 1 && tasks.some((task) => task.packet !== undefined);
