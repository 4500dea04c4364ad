/**
 * The conversation that models had in a run though no state key holds it: what each was sent, and the text it streamed.
 * Later requests repeat earlier messages; each message is shown once. Pure.
 */
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { isObject } from "../parts/diff";
import { roleOf, textOf } from "../state/Conversation";

export interface Streamed {
  readonly taskId: string;
  readonly node: string;
  /** A message as the state would hold it. */
  readonly message: unknown;
  readonly live: boolean;
}

export interface ShownMessage {
  readonly id: string;
  readonly message: unknown;
  readonly node?: string;
  readonly live: boolean;
}

const keyOf = (message: unknown): string => {
  const calls = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls.length : 0;
  return `${roleOf(message)}/${calls}/${textOf(message)}`;
};

export function conversationOf(
  exchanges: readonly Pick<ExchangeView, "taskId" | "at" | "request">[],
  streamed: readonly Streamed[],
): ShownMessage[] {
  const found: ShownMessage[] = [];
  const known = new Set<string>();
  const add = (message: unknown, rest: Pick<ShownMessage, "live"> & { node?: string | undefined }) => {
    const key = keyOf(message);
    if (known.has(key)) return;
    known.add(key);
    const { node, live } = rest;
    found.push({ id: `${found.length}/${key.length}`, message, live, ...(node !== undefined && { node }) });
  };
  const asked = exchanges.toSorted((a, b) => a.at - b.at);
  const left = new Set(streamed);
  const answers = (taskId: string) => {
    for (const one of left) {
      if (one.taskId !== taskId) continue;
      add(one.message, one);
      left.delete(one);
    }
  };
  asked.forEach((exchange, at) => {
    const { messages } = isObject(exchange.request) ? exchange.request : { messages: [] };
    for (const message of Array.isArray(messages) ? messages : []) add(message, { live: false });
    // A task that asks several times has its answers among the messages of its next request.
    if (!asked.slice(at + 1).some((later) => later.taskId === exchange.taskId)) answers(exchange.taskId);
  });
  for (const one of left) add(one.message, one);
  return found;
}
