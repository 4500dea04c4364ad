/**
 * What a run came to: the keys that are its result, and the shape in which a person reads a value. Pure; the view draws
 * what these say.
 */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { isObject } from "../parts/diff";

type Step = Pick<CheckpointView, "id" | "parent" | "source" | "updated" | "step" | "next">;

/**
 * The step that a fork is a copy of: the newest before it that continues the same checkpoint and leads to the same nodes. A
 * replay goes on from its own parent and copies none.
 */
function copied(list: readonly Step[], fork: Step): Step | undefined {
  const next = fork.next.join();
  const found = list.filter(
    (each) =>
      each.id < fork.id &&
      each.parent === fork.parent &&
      each.step === fork.step - 1 &&
      each.next.join() === next,
  );
  return found.find(({ source }) => source !== "fork") ?? found[0];
}

/** What happened at a checkpoint, in a copy what happened at the one that it is a copy of. */
function original(list: readonly Step[], step: Step): Step {
  const from = step.source === "fork" ? copied(list, step) : undefined;
  return from === undefined ? step : original(list, from);
}

/** The steps that followed the last input on the way to a checkpoint, the newest first; copies of steps as these steps. */
export function stepsOfRun(list: readonly Step[], head: string | undefined): Step[] {
  const known = new Map(list.map((step) => [step.id, step]));
  const steps: Step[] = [];
  let at = head === undefined ? undefined : known.get(head);
  while (at) {
    const step = original(list, at);
    if (step.source === "input") break;
    steps.push(step);
    at = at.parent === undefined ? undefined : known.get(at.parent);
  }
  return steps;
}

export interface ResultKeys {
  /** What the graph declares as its output, otherwise what the last step that wrote anything wrote. */
  readonly main: readonly KeyView[];
  /** Other keys that the run changed. */
  readonly also: readonly KeyView[];
  readonly unset: readonly KeyView[];
}

const isSet = (key: KeyView): boolean => key.value !== undefined && key.value.kind !== "null";

export function resultKeys(
  keys: readonly KeyView[],
  output: readonly string[] | undefined,
  steps: readonly Step[],
): ResultKeys {
  const changedLast = keys.filter((key) => key.change !== "same").map((key) => key.key);
  const [head, ...before] = steps;
  const updated =
    // Where the copied step is not known, and without the checkpoints, there is only what the last step changed.
    [!head || head.source === "fork" ? changedLast : head.updated, ...before.map((step) => step.updated)];
  const set = keys.filter(isSet);
  const last = updated.find((names) => set.some((key) => names.includes(key.key))) ?? [];
  const wanted = output ?? last;
  const main = set.filter((key) => wanted.includes(key.key));
  if (output) main.sort((a, b) => output.indexOf(a.key) - output.indexOf(b.key));
  const changed = new Set(updated.flat());
  return {
    main,
    also: set.filter((key) => changed.has(key.key) && !main.includes(key)),
    unset: keys.filter((key) => !isSet(key)),
  };
}

/** The keys that a graph declares as its output. */
export function outputOf(record: unknown): readonly string[] | undefined {
  if (!isObject(record) || !Array.isArray(record.output)) return undefined;
  const names = record.output.filter((name) => typeof name === "string");
  return names.length > 0 ? names : undefined;
}

export interface FileValue {
  readonly name: string | undefined;
  readonly mime: string;
  /** A `data:` address. */
  readonly url: string;
  readonly bytes: number;
}

export type Shape =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "messages"; readonly messages: readonly unknown[] }
  | { readonly type: "image"; readonly url: string }
  | { readonly type: "file"; readonly file: FileValue }
  | {
      readonly type: "table";
      readonly columns: readonly string[];
      readonly rows: readonly Record<string, unknown>[];
    }
  | { readonly type: "list"; readonly items: readonly (string | number | boolean | null)[] }
  | { readonly type: "several"; readonly shapes: readonly Shape[] }
  | { readonly type: "fields"; readonly fields: readonly (readonly [string, unknown])[] }
  | { readonly type: "scalar"; readonly text: string }
  | { readonly type: "json"; readonly value: unknown };

const MAX_COLUMNS = 12;
const DATA = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w-]+=[^;,]*)*)(;base64)?,/i;

const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

/** The file that a `data:` address holds. */
function fileAt(url: string, name?: string): FileValue | undefined {
  const found = DATA.exec(url);
  if (!found) return undefined;
  const length = url.length - found[0].length;
  return {
    name,
    mime: found[1] ?? "text/plain",
    url,
    bytes: found[3] === undefined ? length : Math.floor((length * 3) / 4),
  };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** A file as a text or as a part of a message: `image_url`, `image` and `file` as the providers write them. */
export function fileOf(value: unknown): FileValue | undefined {
  if (typeof value === "string") return fileAt(value);
  if (!isObject(value)) return undefined;
  const name = text(value.filename) ?? text(value.name);
  const address = isObject(value.image_url) ? value.image_url.url : value.image_url;
  if (value.type === "image_url") return typeof address === "string" ? fileAt(address, name) : undefined;
  if (value.type !== "image" && value.type !== "file") return undefined;
  const source = isObject(value.source) ? value.source : value;
  const data = text(source.base64) ?? text(source.data);
  if (data === undefined) return undefined;
  const fallback = value.type === "image" ? "image/png" : "application/octet-stream";
  const mime = text(source.mime_type) ?? text(source.media_type) ?? fallback;
  return DATA.test(data) ? fileAt(data, name) : fileAt(`data:${mime};base64,${data}`, name);
}

/** How a value is shown to a person who wants to read it. */
export function shapeOf(value: unknown, reducer = ""): Shape {
  const file = fileOf(value);
  if (file) return file.mime.startsWith("image/") ? { type: "image", url: file.url } : { type: "file", file };
  if (typeof value === "string") return { type: "text", text: value };
  if (isScalar(value) || value === undefined) return { type: "scalar", text: String(value) };
  if (Array.isArray(value)) {
    if (reducer === "add_messages" || (value.length > 0 && value.every(isMessage)))
      return { type: "messages", messages: value };
    if (value.length > 0 && value.every((item) => fileOf(item) !== undefined))
      return { type: "several", shapes: value.map((item: unknown) => shapeOf(item)) };
    if (value.length > 0 && value.every(isScalar)) return { type: "list", items: value };
    if (value.length > 0 && value.every(isObject)) {
      const columns = new Set<string>();
      for (const row of value) for (const column of Object.keys(row)) columns.add(column);
      if (columns.size > 0 && columns.size <= MAX_COLUMNS)
        return { type: "table", columns: [...columns], rows: value };
    }
    return { type: "json", value };
  }
  const fields = Object.entries(value);
  return fields.length > 0 && fields.every(([, field]) => isScalar(field))
    ? { type: "fields", fields }
    : { type: "json", value };
}

const ROLES = new Set(["human", "user", "ai", "assistant", "system", "tool"]);

const isMessage = (item: unknown): boolean =>
  isObject(item) && ROLES.has(String(item.type ?? item.role)) && "content" in item;

/** The last turn of a conversation: from the last message of a person on. */
export function lastTurn(messages: readonly unknown[]): number {
  const at = messages.findLastIndex(
    (message) => isObject(message) && ["human", "user"].includes(String(message.type ?? message.role)),
  );
  return Math.max(0, at);
}
