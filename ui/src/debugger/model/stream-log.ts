/**
 * What came over the stream, thread by thread, for the Stream and Messages tabs: one entry per task, message and custom
 * event, tokens joined to their message. A thread that is opened begins with what was kept of its runs, in the same
 * events. Kept out of the store because it changes with every frame of a streaming run; a tab that is not open costs
 * nothing but the append.
 */
import { problemText } from "../../lib/texts";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { AttemptView } from "../../ipc/bindings/AttemptView";
import type { ThreadEvents } from "../../ipc/bindings/ThreadEvents";
import type { TokenPiece } from "../../ipc/bindings/TokenPiece";

export interface StreamedCall {
  readonly name: string;
  readonly args: string;
}

type TextEntry = Extract<LogEntry, { type: "text" }>;

/** A message with one more piece. */
function grown<E extends Pick<TextEntry, "text" | "reasoning" | "calls">>(entry: E, piece: TokenPiece): E {
  switch (piece.type) {
    case "text":
      return { ...entry, text: entry.text + piece.text };
    case "reasoning":
      return { ...entry, reasoning: entry.reasoning + piece.text };
    case "call": {
      const calls = [...entry.calls];
      // Pieces may come without the ones before, after a gap.
      while (calls.length <= Math.min(piece.index, MAX_CALLS)) calls.push({ name: "", args: "" });
      const known = calls[piece.index];
      if (known) calls[piece.index] = { name: piece.name ?? known.name, args: known.args + piece.text };
      return { ...entry, calls };
    }
  }
}

export type LogEntry =
  | {
      readonly type: "task";
      readonly id: number;
      readonly at: number;
      readonly node: string;
      readonly step: number;
      readonly taskId: string;
      readonly status: "running" | "done" | "failed" | "asking" | "waiting";
      readonly millis?: number;
      readonly error?: string;
      readonly cached: boolean;
    }
  | {
      readonly type: "text";
      readonly id: number;
      readonly at: number;
      readonly node: string;
      readonly messageId: string;
      readonly taskId: string;
      readonly text: string;
      /** What the model thought before it answered. */
      readonly reasoning: string;
      /** Tools it calls, with their arguments as far as they have come. */
      readonly calls: readonly StreamedCall[];
    }
  | {
      readonly type: "attempt";
      readonly id: number;
      readonly at: number;
      readonly node: string;
      readonly taskId: string;
      readonly attempt: AttemptView;
    }
  | {
      readonly type: "custom";
      readonly id: number;
      readonly at: number;
      readonly node: string;
      /** Absent where a breakpoint logged it. */
      readonly taskId?: string;
      readonly value: unknown;
    }
  | {
      readonly type: "checkpoint";
      readonly id: number;
      readonly at: number;
      readonly checkpointId: string;
      readonly step: number;
      readonly source: string;
      readonly next: readonly string[];
    }
  | {
      readonly type: "run";
      readonly id: number;
      readonly at: number;
      readonly status: string;
      readonly message?: string;
    }
  | { readonly type: "leftOut"; readonly id: number; readonly at: number };

type Body = LogEntry extends infer E ? (E extends LogEntry ? Omit<E, "id"> : never) : never;

/** A model that calls more tools at once than this is not shown in full. */
const MAX_CALLS = 256;

/** Older entries are dropped: the log shows what happens, the checkpoints keep what happened. */
const MAX_ENTRIES = 20_000;
const DROP = 2_000;

/** A request for what was kept, and what comes after the moment that its answer is of. */
interface Reading {
  readonly mark: string;
  readonly read: ReadKept;
  /** The answer has what follows the entries that are here, not all. */
  readonly isMore: boolean;
  /** Absent until the moment has come. */
  after?: AppEvent[];
  answer?: ThreadEvents;
}

/** Asks for what was kept of a thread: all of it, or what follows a place. */
export type ReadKept = (request: { mark: string; after?: number }) => Promise<ThreadEvents>;

class ThreadLog {
  entries: LogEntry[] = [];
  /** The place of what was read last. */
  last?: number;
  /** Events of this program came since then; they are kept too, and would be read twice. */
  hasOwn = false;
  version = 0;
  dropped = 0;
  /** Index of the entry of a running task or an open message, as position since the beginning. */
  readonly #open = new Map<string, number>();
  #nextId = 0;

  push(entry: Body, openKey?: string): void {
    if (openKey !== undefined) this.#open.set(openKey, this.dropped + this.entries.length);
    this.entries.push({ ...entry, id: this.#nextId } as LogEntry);
    this.#nextId += 1;
    if (this.entries.length > MAX_ENTRIES) {
      this.entries = this.entries.slice(DROP);
      this.dropped += DROP;
    }
  }

  find(openKey: string): LogEntry | undefined {
    const position = this.#open.get(openKey);
    return position === undefined ? undefined : this.entries[position - this.dropped];
  }

  replace(openKey: string, entry: LogEntry): void {
    const position = this.#open.get(openKey);
    if (position !== undefined && position >= this.dropped) this.entries[position - this.dropped] = entry;
  }

  /** Removes the open entries whose keys begin so. */
  remove(openKeys: string): void {
    const removed = [...this.#open].filter(([key]) => key.startsWith(openKeys));
    for (const [key, position] of removed.sort(([, a], [, b]) => b - a)) {
      this.#open.delete(key);
      if (position < this.dropped) continue;
      const place = position - this.dropped;
      this.entries = [...this.entries.slice(0, place), ...this.entries.slice(place + 1)];
      for (const [other, at] of this.#open) if (at > position) this.#open.set(other, at - 1);
    }
  }

  forget(): void {
    this.#open.clear();
  }

  close(openKey: string): void {
    this.#open.delete(openKey);
  }
}

export class StreamLog {
  readonly #threads = new Map<string, ThreadLog>();
  readonly #listeners = new Set<() => void>();
  readonly #readings = new Map<string, Reading>();
  readonly #now: () => number;
  #marks = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  append(events: readonly AppEvent[]): void {
    const touched = new Set<ThreadLog>();
    for (const event of events) {
      this.#follow(event);
      const log = this.#fold(event);
      if (log) {
        log.hasOwn = true;
        touched.add(log);
      }
    }
    this.#changed(touched);
  }

  /** Events were lost: what was kept has them all, and is read again when it is looked at. */
  gap(): void {
    this.#readings.clear();
    this.#threads.clear();
    this.#notify();
  }

  /** Begins a thread with what was kept of its runs, unless that was done. */
  open(threadId: string, read: ReadKept): Promise<void> {
    if (this.#readings.has(threadId) || this.#threads.get(threadId)?.last !== undefined)
      return Promise.resolve();
    return this.#read(threadId, undefined, read);
  }

  /** Adds what another program did since. */
  refresh(threadId: string, read: ReadKept): Promise<void> {
    const log = this.#threads.get(threadId);
    if (log?.last === undefined || this.#readings.has(threadId)) return Promise.resolve();
    return this.#read(threadId, log.hasOwn ? undefined : log.last, read);
  }

  async #read(threadId: string, after: number | undefined, read: ReadKept): Promise<void> {
    this.#marks += 1;
    const mark = `${this.#now()}-${this.#marks}-${Math.random()}`;
    const reading: Reading = { mark, read, isMore: after !== undefined };
    this.#readings.set(threadId, reading);
    try {
      reading.answer = await read({ mark, ...(after !== undefined && { after }) });
      this.#join(threadId, reading);
    } catch {
      // It is read again when the thread is opened again; what comes is shown meanwhile.
      if (this.#readings.get(threadId) === reading) this.#readings.delete(threadId);
    }
  }

  /** Collects what comes after the moment of an answer. */
  #follow(event: AppEvent): void {
    if (this.#readings.size === 0) return;
    if (event.type === "mark") {
      for (const [threadId, reading] of this.#readings) {
        if (reading.mark !== event.mark) continue;
        reading.after = [];
        this.#join(threadId, reading);
      }
      return;
    }
    const threadId = "threadId" in event ? event.threadId : event.type === "run" ? event.run.threadId : null;
    if (threadId !== null) this.#readings.get(threadId)?.after?.push(event);
  }

  #join(threadId: string, reading: Reading): void {
    const { after, answer } = reading;
    if (!after || !answer || this.#readings.get(threadId) !== reading) return;
    this.#readings.delete(threadId);
    const known = this.#threads.get(threadId);
    if (reading.isMore && (!known || known.hasOwn)) {
      void this.#read(threadId, undefined, reading.read);
      return;
    }
    if (!reading.isMore) {
      const log = new ThreadLog();
      log.version = known?.version ?? 0;
      this.#threads.set(threadId, log);
      if (answer.leftOut) log.push({ type: "leftOut", at: firstAt(answer.events) });
    }
    const log = this.#log(threadId);
    for (const event of answer.events) this.#fold(event);
    for (const event of after) this.#fold(event);
    log.last = answer.last;
    log.hasOwn = after.length > 0;
    this.#changed([log]);
  }

  #changed(touched: Iterable<ThreadLog>): void {
    let any = false;
    for (const log of touched) {
      log.version += 1;
      any = true;
    }
    if (any) this.#notify();
  }

  /** Empties what is shown; what was kept stays, and is shown after a reload. */
  clear(threadId: string): void {
    const log = this.#threads.get(threadId);
    if (!log) return;
    log.entries = [];
    log.dropped = 0;
    log.forget();
    this.#changed([log]);
  }

  entries(threadId: string): readonly LogEntry[] {
    return this.#threads.get(threadId)?.entries ?? NONE;
  }

  /** Changes whenever `entries` has changed. */
  version(threadId: string): number {
    return this.#threads.get(threadId)?.version ?? -1;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #log(threadId: string): ThreadLog {
    let log = this.#threads.get(threadId);
    if (!log) this.#threads.set(threadId, (log = new ThreadLog()));
    return log;
  }

  #fold(event: AppEvent): ThreadLog | undefined {
    switch (event.type) {
      case "run": {
        const log = this.#log(event.run.threadId);
        const message = event.run.problem && problemText(event.run.problem).message;
        const at = Date.parse(event.run.endedAt ?? event.run.startedAt);
        log.push({
          type: "run",
          at: Number.isNaN(at) ? this.#now() : at,
          status: event.run.status,
          ...(message !== undefined && { message }),
        });
        return log;
      }
      case "taskStarted": {
        const log = this.#log(event.threadId);
        log.push(
          {
            type: "task",
            at: event.at,
            node: event.node,
            step: event.step,
            taskId: event.taskId,
            status: "running",
            cached: false,
          },
          `task/${event.taskId}`,
        );
        return log;
      }
      case "taskEnded": {
        const log = this.#log(event.threadId);
        const key = `task/${event.taskId}`;
        const began = log.find(key);
        const ended = {
          type: "task" as const,
          node: event.node,
          step: event.step,
          taskId: event.taskId,
          status: event.status,
          cached: event.cached,
          ...(event.error !== undefined && { error: event.error }),
        };
        if (began?.type === "task") {
          log.replace(key, {
            ...ended,
            id: began.id,
            at: began.at,
            millis: Math.max(0, event.at - began.at),
          });
          log.close(key);
        } else log.push({ ...ended, at: event.at });
        return log;
      }
      case "token": {
        const log = this.#log(event.threadId);
        const key = `text/${event.taskId}/${event.messageId}`;
        const begun = log.find(key);
        if (begun?.type === "text") log.replace(key, grown(begun, event.piece));
        else {
          const empty = {
            type: "text" as const,
            at: event.at,
            node: event.node,
            messageId: event.messageId,
            taskId: event.taskId,
            text: "",
            reasoning: "",
            calls: [],
          };
          log.push(grown<typeof empty & { calls: readonly StreamedCall[] }>(empty, event.piece), key);
        }
        return log;
      }
      case "taskAttempt": {
        const log = this.#log(event.threadId);
        const { at, node, taskId, attempt } = event;
        // The next attempt says it again, under the same ids.
        log.remove(`text/${taskId}/`);
        log.push({ type: "attempt", at, node, taskId, attempt });
        return log;
      }
      case "custom": {
        const log = this.#log(event.threadId);
        const { at, node, taskId, value } = event;
        log.push({ type: "custom", at, node, value, ...(taskId !== undefined && { taskId }) });
        return log;
      }
      case "checkpoint": {
        const log = this.#log(event.threadId);
        const key = `checkpoint/${event.checkpoint.id}`;
        // Said again when its questions or failures have changed; it was stored once.
        if (log.find(key)) return undefined;
        const at = Date.parse(event.checkpoint.at);
        log.push(
          {
            type: "checkpoint",
            at: Number.isNaN(at) ? this.#now() : at,
            checkpointId: event.checkpoint.id,
            step: event.checkpoint.step,
            source: event.checkpoint.source,
            next: event.checkpoint.next,
          },
          key,
        );
        return log;
      }
      case "threadDeleted":
        this.#threads.delete(event.threadId);
        return undefined;
      default:
        return undefined;
    }
  }
}

const NONE: readonly LogEntry[] = [];

function firstAt(events: readonly AppEvent[]): number {
  for (const event of events) if ("at" in event) return event.at;
  return 0;
}
