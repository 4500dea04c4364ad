/**
 * The run context of the open graph: what it declares, and what the next run is given. It is kept while the window is open;
 * a thread that goes on has what its last run was given.
 */
import { create } from "zustand";
import { isObject } from "../parts/diff";

type Fields = Readonly<Record<string, unknown>>;

interface Given {
  /** By graph. */
  readonly given: Readonly<Record<string, Fields>>;
  /** The set of values that was chosen last, by graph. */
  readonly chosen: Readonly<Record<string, string>>;
}

export const useRunContext = create<Given>()(() => ({ given: {}, chosen: {} }));

export function giveContext(graph: string, fields: Fields): void {
  useRunContext.setState(({ given }) => ({ given: { ...given, [graph]: fields } }));
}

/** Notes the name of the set that the values are kept under. */
export function chooseContextSet(graph: string, name: string): void {
  useRunContext.setState(({ chosen }) => ({ chosen: { ...chosen, [graph]: name } }));
}

/** JSON Schema of what the graph declares; `null` when it declares nothing. */
export function contextSchema(head: Fields): Record<string, unknown> | null {
  const fields = head["context"];
  if (!isObject(fields) || Object.keys(fields).length === 0) return null;
  const required = Object.entries(fields)
    .filter(([, field]) => !(isObject(field) && "default" in field))
    .map(([name]) => name);
  return { type: "object", properties: fields, required, additionalProperties: false };
}

/** What a run with an input is given, for `run.start`; nothing leaves it to the thread. */
export function contextFor(head: Fields, graph: string): { context?: Fields } {
  const fields = useRunContext.getState().given[graph];
  return contextSchema(head) === null || fields === undefined ? {} : { context: fields };
}
