/**
 * The input of a run: its schema from the document's state, the document's sample inputs, and what was typed last for
 * each graph. Pure but for the small store at the end.
 */
import { create } from "zustand";
import { isObject } from "../parts/diff";

/** A state key of the document: its JSON Schema with the fields of a channel beside it. */
export type StateKey = Readonly<Record<string, unknown>>;

export interface Sample {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** JSON Schema of the input: the keys that the document lets an input set, all of them optional. */
export function inputSchema(
  keys: readonly (readonly [name: string, key: StateKey])[],
  inputKeys: readonly string[] | undefined,
): Record<string, unknown> {
  const allowed = inputKeys ? new Set(inputKeys) : undefined;
  const properties: Record<string, unknown> = {};
  for (const [name, key] of keys) {
    if (allowed && !allowed.has(name)) continue;
    const { reducer, channel: _channel, default: _default, ...schema } = key;
    if (reducer === "add_messages" && !isObject(schema.items))
      properties[name] = { ...schema, "x-editor": "messages" };
    else properties[name] = schema;
  }
  return { type: "object", properties };
}

/** The keys that the document names as its input. */
export function inputKeysOf(doc: Readonly<Record<string, unknown>>): string[] | undefined {
  const declared = doc.input;
  if (!Array.isArray(declared)) return undefined;
  return declared.filter((key): key is string => typeof key === "string");
}

/** The document's `examples` that have a usable input. */
export function samplesOf(doc: Readonly<Record<string, unknown>> | undefined): Sample[] {
  const examples = doc?.examples;
  if (!Array.isArray(examples)) return [];
  return examples.flatMap((example: unknown, index) => {
    if (!isObject(example) || !isObject(example.input)) return [];
    const name = typeof example.name === "string" && example.name !== "" ? example.name : String(index + 1);
    return [{ name, input: example.input }];
  });
}

/**
 * The keys to show first: those that the document names as its input, or that its samples give, or that already have a
 * value; the rest are mostly filled by nodes. Without such a hint all come first but those that nodes fill in.
 */
export function mainKeys(
  names: readonly string[],
  inputKeys: readonly string[] | undefined,
  samples: readonly Sample[],
  value: Readonly<Record<string, unknown>>,
  filled: ReadonlySet<string>,
): string[] {
  if (inputKeys) return names.filter((name) => inputKeys.includes(name));
  const given = new Set(samples.flatMap((sample) => Object.keys(sample.input)));
  if (!names.some((name) => given.has(name)))
    return names.filter((name) => !filled.has(name) || value[name] !== undefined);
  return names.filter((name) => given.has(name) || value[name] !== undefined);
}

/** Number of keys that are named when nothing is there. */
const NAMED = 4;

/**
 * What is missing of an input that says nothing: the message of a conversation, else the first few keys. A key with a
 * default misses nothing, so a graph of such keys runs from them.
 */
export function missingKeys(
  keys: readonly (readonly [name: string, key: StateKey])[],
  first: readonly string[],
): readonly string[] {
  const messages = keys.filter(([, key]) => key.reducer === "add_messages").map(([name]) => name);
  if (messages.length > 0) return messages.slice(0, NAMED);
  const given = new Set(keys.filter(([, key]) => key.default !== undefined).map(([name]) => name));
  return first.filter((name) => !given.has(name)).slice(0, NAMED);
}

/** Does a second input on the same thread make sense as "the next turn"? It does where messages are kept. */
export function isConversation(keys: readonly (readonly [string, StateKey])[]): boolean {
  return keys.some(([, key]) => key.reducer === "add_messages");
}

/** An input that says nothing: no key, or only empty ones, or messages without a word. */
export function isEmptyInput(input: unknown): boolean {
  return !isObject(input) || Object.values(input).every((value) => value === undefined || isSilent(value));
}

/** What an input says: a message without a word is a form that nobody filled in. */
export function spoken(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !isSilent(value)));
}

function isSilent(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && item.content === "")
  );
}

/** The form after a turn of a conversation: the next message is still to be written. */
export function nextTurn(
  keys: readonly (readonly [name: string, key: StateKey])[],
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const next: Record<string, unknown> = {};
  for (const [name, key] of keys) {
    if (!(name in sent)) continue;
    if (key.reducer === "add_messages") next[name] = [{ type: "human", content: "" }];
    else if (key.reducer === undefined || key.reducer === "overwrite") next[name] = sent[name];
  }
  return next;
}

/** An empty message where a conversation has none yet, so that there is a field to write it in. */
export function withMessage(
  keys: readonly (readonly [name: string, key: StateKey])[],
  input: Record<string, unknown>,
): Record<string, unknown> {
  const [name] = keys.find(([, key]) => key.reducer === "add_messages") ?? [];
  if (name === undefined || input[name] !== undefined) return input;
  return { ...input, [name]: [{ type: "human", content: "" }] };
}

const STORAGE = "superstep.input.";

function remembered(graph: string): Record<string, unknown> | undefined {
  try {
    const text = localStorage.getItem(STORAGE + graph);
    const value: unknown = text === null ? undefined : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface InputStore {
  /** What is in the form, by graph. */
  readonly drafts: Readonly<Record<string, Record<string, unknown>>>;
  /** Where the input goes when a thread is selected. */
  readonly target: "new" | "thread";
  setDraft(graph: string, input: Record<string, unknown>): void;
  setTarget(target: "new" | "thread"): void;
}

export const useRunInput = create<InputStore>()((set) => ({
  drafts: {},
  target: "new",
  setDraft: (graph, input) => set((store) => ({ drafts: { ...store.drafts, [graph]: input } })),
  setTarget: (target) => set({ target }),
}));

/** What is typed, else what was sent last, else the first sample. */
export function inputFor(
  drafts: InputStore["drafts"],
  graph: string,
  samples: readonly Sample[],
): Record<string, unknown> {
  return drafts[graph] ?? remembered(graph) ?? samples[0]?.input ?? {};
}

export function rememberInput(graph: string, input: Record<string, unknown>): void {
  try {
    localStorage.setItem(STORAGE + graph, JSON.stringify(input));
  } catch {
    // Storage may be full or forbidden; the input is then only kept while the window is open.
  }
}
