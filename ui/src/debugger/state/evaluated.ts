/** The value of an expression at a moment of a thread, and what it gave as one text. */
import { brief } from "../../components/schema-form/json";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { rpc } from "../../ipc/client";

const LENGTH = 2000;

interface Moment {
  readonly threadId: string;
  /** The newest when it is not given. */
  readonly checkpointId?: string;
}

/** Evaluates an expression over the state of a moment, and over the run context where one is given. */
export function evaluateAt(
  graphId: string,
  text: string,
  at: Moment,
  context: object | undefined,
  signal: AbortSignal,
): Promise<Evaluated> {
  const variables = context === undefined ? {} : { context };
  return rpc("expression.evaluate", { graphId, text, template: false, at, state: {}, variables }, signal);
}

export function evaluatedText({ value, message }: Evaluated): string {
  if (value === undefined) return message ?? "";
  if (value.value === undefined && value.head !== undefined) return `${value.head}…`;
  return typeof value.value === "string"
    ? JSON.stringify(value.value.slice(0, LENGTH))
    : brief(value.value, LENGTH);
}
