/**
 * The inputs that a graph was given before, the newest first, for walking through them from a form or the chat. They are
 * read from the threads, one by one as the walk reaches them: nothing is kept twice, and inputs of other windows and of
 * the command line are among them.
 */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { START } from "../../document/types";
import { rpc } from "../../ipc/client";
import { escapePointer, isObject } from "../parts/diff";
import { asUpdate } from "../state/edits";

export type Input = Readonly<Record<string, unknown>>;

/** The inputs of a graph's threads, each once. `baseOf` answers a key's default. */
export async function* inputsOf(graphId: string, baseOf: (key: string) => unknown): AsyncGenerator<Input> {
  const seen = new Set<string>();
  let after: string | undefined;
  do {
    const page = await rpc("thread.list", { graphId, limit: 100, ...(after !== undefined && { after }) });
    for (const { threadId } of page.threads) {
      for await (const moment of inputMoments(threadId)) {
        const input = await inputAt(threadId, moment, baseOf);
        const text = JSON.stringify(input);
        if (Object.keys(input).length === 0 || seen.has(text)) continue;
        seen.add(text);
        yield input;
      }
    }
    after = page.next;
  } while (after !== undefined);
}

/** A checkpoint that was given an input, and the one that has taken it in. */
interface Moment {
  readonly id: string;
  readonly taken: CheckpointView | undefined;
}

async function* inputMoments(threadId: string): AsyncGenerator<Moment> {
  const children = new Map<string, CheckpointView>();
  let before: string | undefined;
  for (;;) {
    const page = await rpc("thread.checkpoints", {
      threadId,
      limit: 0,
      ...(before !== undefined && { before }),
    });
    for (const checkpoint of page.checkpoints) {
      const { id, parent, source } = checkpoint;
      if (parent !== undefined) children.set(parent, checkpoint);
      if (source === "input") yield { id, taken: children.get(id) };
    }
    before = page.checkpoints.at(-1)?.id;
    if (!page.more || before === undefined) return;
  }
}

/** What the task that takes in an input was given. A large one is told from what it changed. */
async function inputAt(
  threadId: string,
  { id, taken }: Moment,
  baseOf: (key: string) => unknown,
): Promise<Input> {
  const { tasks } = await rpc("thread.snapshot", { threadId, checkpointId: id });
  const given = tasks.find(({ node }) => node === START)?.result;
  if (given === undefined) return {};
  if ("value" in given) return isObject(given.value) ? given.value : {};
  return taken === undefined ? {} : changedBy(threadId, taken, baseOf);
}

async function changedBy(
  threadId: string,
  { id, updated, parent }: CheckpointView,
  baseOf: (key: string) => unknown,
): Promise<Input> {
  const { keys } = await rpc("thread.snapshot", { threadId, checkpointId: id });
  const changed = keys.filter((view) => updated.includes(view.key) && view.value !== undefined);
  const entries = changed.map(async (view): Promise<[string, unknown]> => {
    const whole = (checkpointId: string, value: ValueView) =>
      "value" in value ? value.value : valueAt(threadId, checkpointId, view.key);
    const { previous } = view;
    const base = previous && parent !== undefined ? await whole(parent, previous) : baseOf(view.key);
    const value: unknown = view.value ? await whole(id, view.value) : undefined;
    return [view.key, updateOf(view, base, value)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function valueAt(threadId: string, checkpointId: string, key: string): Promise<unknown> {
  const pointer = `/${escapePointer(key)}`;
  const { value } = await rpc("thread.value", { threadId, checkpointId, pointer, offset: 0, limit: 0 });
  return value;
}

/** Messages are given ids when they are taken in: said again they are new ones. */
function updateOf({ reducer }: KeyView, base: unknown, value: unknown): unknown {
  const update = asUpdate(reducer, base, value);
  if (reducer !== "add_messages" || !Array.isArray(update)) return update;
  return update.map((message: unknown) => {
    if (!isObject(message)) return message;
    const { id: _given, ...rest } = message;
    return rest;
  });
}
