/** What is other in a request to a model than in the one before it of the same node: messages, settings, tools. Pure. */
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import type { TraceSpan } from "../../ipc/bindings/TraceSpan";
import { isObject, sameJson } from "../parts/diff";
import { roleOf, textOf } from "../state/Conversation";

type Role = ReturnType<typeof roleOf>;

export type PromptChange =
  | { readonly kind: "equal"; readonly count: number }
  | { readonly kind: "added"; readonly role: Role; readonly text: string }
  | { readonly kind: "removed"; readonly role: Role; readonly text: string }
  | { readonly kind: "changed"; readonly role: Role; readonly before: string; readonly after: string }
  /** The model, a parameter, the tools; texts as they are, anything else as JSON. */
  | {
      readonly kind: "setting";
      readonly name: string;
      readonly before: string | null;
      readonly after: string | null;
    };

interface Said {
  readonly role: Role;
  readonly text: string;
}

/** More pairs of messages than this are not aligned: what is other is shown as taken out and put in. */
const MOST_PAIRS = 250_000;

function said(message: unknown): Said {
  const calls = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const called = calls.map((call) => JSON.stringify(call)).join("\n");
  return { role: roleOf(message), text: [textOf(message), called].filter((part) => part !== "").join("\n") };
}

const same = (a: Said | undefined, b: Said | undefined): boolean =>
  a !== undefined && b !== undefined && a.role === b.role && a.text === b.text;

type Pair = readonly [number, number];

/** Pairs of places that are alike, in order, between two places of each. */
function alignedWithin(before: readonly Said[], after: readonly Said[], shift: number): readonly Pair[] {
  if (before.length * after.length > MOST_PAIRS) return [];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (a: number, b: number) => lengths[a * width + b] ?? 0;
  for (let a = before.length - 1; a >= 0; a -= 1)
    for (let b = after.length - 1; b >= 0; b -= 1)
      lengths[a * width + b] = same(before[a], after[b])
        ? at(a + 1, b + 1) + 1
        : Math.max(at(a + 1, b), at(a, b + 1));
  const pairs: Pair[] = [];
  for (let [a, b] = [0, 0]; a < before.length && b < after.length;) {
    if (same(before[a], after[b])) {
      pairs.push([a + shift, b + shift]);
      a += 1;
      b += 1;
    } else if (at(a + 1, b) >= at(a, b + 1)) a += 1;
    else b += 1;
  }
  return pairs;
}

/** The same of all: what both begin and end with is not searched. */
function aligned(before: readonly Said[], after: readonly Said[]): readonly Pair[] {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && same(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < least - head && same(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  const middle = (list: readonly Said[]) => list.slice(head, list.length - tail);
  return [
    ...Array.from({ length: head }, (_, at): Pair => [at, at]),
    ...alignedWithin(middle(before), middle(after), head),
    ...Array.from({ length: tail }, (_, at): Pair => [before.length - tail + at, after.length - tail + at]),
  ];
}

/** What was taken out and what was put in at one place: those of a role in pairs, which changed. */
function between(removed: readonly Said[], added: readonly Said[]): readonly PromptChange[] {
  const left = [...removed];
  const changes = added.map(({ role, text }): PromptChange => {
    const at = left.findIndex((one) => one.role === role);
    const [old] = at < 0 ? [] : left.splice(at, 1);
    return old ? { kind: "changed", role, before: old.text, after: text } : { kind: "added", role, text };
  });
  return [...left.map((one): PromptChange => ({ kind: "removed", ...one })), ...changes];
}

function messageChanges(before: readonly Said[], after: readonly Said[]): readonly PromptChange[] {
  const changes: PromptChange[] = [];
  let [a, b, equal] = [0, 0, 0];
  const close = () => {
    if (equal > 0) changes.push({ kind: "equal", count: equal });
    equal = 0;
  };
  for (const [nextA, nextB] of [...aligned(before, after), [before.length, after.length] as const]) {
    if (nextA > a || nextB > b) {
      close();
      changes.push(...between(before.slice(a, nextA), after.slice(b, nextB)));
    }
    if (nextA < before.length) equal += 1;
    [a, b] = [nextA + 1, nextB + 1];
  }
  close();
  return changes;
}

const settingText = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : typeof value === "string"
      ? value
      : JSON.stringify(value, null, 2);

type Sent = Pick<ExchangeView, "model" | "request">;

/** Empty when the same was sent. */
export function promptChanges(before: Sent, after: Sent): readonly PromptChange[] {
  const parts = ({ model, request }: Sent) => {
    const { messages, ...rest } = isObject(request) ? request : { messages: [] };
    const settings: Record<string, unknown> = { ...rest, model };
    return { messages: (Array.isArray(messages) ? messages : []).map(said), settings };
  };
  const [old, now] = [parts(before), parts(after)];
  const names = [...new Set([...Object.keys(old.settings), ...Object.keys(now.settings)])].toSorted();
  const settings = names.flatMap((name): readonly PromptChange[] =>
    sameJson(old.settings[name], now.settings[name])
      ? []
      : [
          {
            kind: "setting",
            name,
            before: settingText(old.settings[name]),
            after: settingText(now.settings[name]),
          },
        ],
  );
  const messages = messageChanges(old.messages, now.messages);
  if (settings.length === 0 && messages.every(({ kind }) => kind === "equal")) return [];
  return [...settings, ...messages];
}

type Spot = Pick<TraceSpan, "taskId" | "parent" | "node" | "started" | "checkpointId" | "step" | "calls">;

/**
 * The newest task before another one that asked a model at the same place: the node of that name, in the same graph. What
 * ran beside it in its step is not before it. `onPath`: the checkpoint that a step began from leads to this one.
 */
export function taskBefore(
  spans: readonly Spot[],
  taskId: string,
  onPath: (checkpointId: string) => boolean,
): Spot | null {
  const byTask = new Map(spans.map((span) => [span.taskId, span]));
  const own = byTask.get(taskId);
  if (!own) return null;
  const rootOf = (span: Spot): Spot => {
    const parent = span.parent === undefined ? undefined : byTask.get(span.parent);
    return parent ? rootOf(parent) : span;
  };
  const placeOf = (span: Spot): string => {
    const parent = span.parent === undefined ? undefined : byTask.get(span.parent);
    return parent ? `${placeOf(parent)}\n${span.node}` : span.node;
  };
  const root = rootOf(own);
  const place = placeOf(own);
  let found: Spot | null = null;
  for (const span of spans) {
    if (span.taskId === taskId || (span.calls?.length ?? 0) === 0) continue;
    if (span.started > own.started || (found !== null && span.started < found.started)) continue;
    const around = rootOf(span);
    const earlier = around.checkpointId !== root.checkpointId && onPath(around.checkpointId);
    if ((earlier || (around === root && span.parent !== undefined)) && placeOf(span) === place) found = span;
  }
  return found;
}
