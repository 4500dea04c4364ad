/** A template with the state that the task of an exchange saw. */
import type { Subject } from "../../debugger/exchanges/playground";
import { isObject } from "../../debugger/parts/diff";
import { rpc } from "../../ipc/client";

export interface Rendered {
  readonly text?: string;
  /** Why it gives none. */
  readonly message?: string;
}

export async function renderAt(
  { threadId, from, packet }: Subject,
  graphId: string,
  template: string,
  signal: AbortSignal,
): Promise<Rendered> {
  const { value, message } = await rpc(
    "expression.evaluate",
    {
      graphId,
      text: template,
      template: true,
      state: isObject(packet) ? packet : {},
      variables: {},
      ...(packet === undefined && { at: { threadId, checkpointId: from } }),
    },
    signal,
  );
  if (typeof value?.value === "string") return { text: value.value };
  return message === undefined ? {} : { message };
}

/** Text that is the same with every state. */
export const isPlain = (template: string): boolean => !/\{[{%#]/.test(template);
