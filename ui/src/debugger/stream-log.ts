/**
 * What came over the stream, thread by thread, for the Stream and Messages tabs: one entry per task, message and custom
 * event, tokens joined to their message. Kept out of the store because it changes with every frame of a streaming run;
 * a tab that is not open costs nothing but the append.
 */
import type { AppEvent } from "../ipc/bindings/AppEvent";
import type { AttemptView } from "../ipc/bindings/AttemptView";
import type { TokenPiece } from "../ipc/bindings/TokenPiece";

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
      readonly attempt: AttemptView;
    }
  | {
      readonly type: "custom";
      readonly id: number;
      readonly at: number;
      readonly node: string;
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
  | { readonly type: "gap"; readonly id: number; readonly at: number };

type Body = LogEntry extends infer E ? (E extends LogEntry ? Omit<E, "id"> : never) : never;

/** A model that calls more tools at once than this is not shown in full. */
const MAX_CALLS = 256;

/** Older entries are dropped: the log shows what happens, the checkpoints keep what happened. */
const MAX_ENTRIES = 20_000;
const DROP = 2_000;

class ThreadLog {
  entries: LogEntry[] = [];
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

  close(openKey: string): void {
    this.#open.delete(openKey);
  }
}

export class StreamLog {
  readonly #threads = new Map<string, ThreadLog>();
  readonly #listeners = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  append(events: readonly AppEvent[]): void {
    const touched = new Set<ThreadLog>();
    for (const event of events) {
      const log = this.#fold(event);
      if (log) touched.add(log);
    }
    for (const log of touched) log.version += 1;
    if (touched.size > 0) this.#tell();
  }

  gap(): void {
    const at = this.#now();
    for (const log of this.#threads.values()) {
      log.push({ type: "gap", at });
      log.version += 1;
    }
    this.#tell();
  }

  clear(threadId: string): void {
    this.#threads.delete(threadId);
    this.#tell();
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

  #tell(): void {
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
        const message = event.run.problem?.message;
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
            at: this.#now(),
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
        log.push({ type: "attempt", at: event.at, node: event.node, attempt: event.attempt });
        return log;
      }
      case "custom": {
        const log = this.#log(event.threadId);
        log.push({ type: "custom", at: event.at, node: event.node, value: event.value });
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
