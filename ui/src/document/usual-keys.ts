/**
 * State keys that a new node names by itself. A conversation has one meaning in a graph, so a field that needs one takes
 * the conversation that is there, or makes `messages`, as LangGraph's `MessagesState` calls it.
 */
import { resolve, type Schema } from "../components/schema-form/schema";
import type { GraphDocument } from "./document";
import { isObject, type Json, type JsonObject } from "./types";

/** What settings begin with, and the keys that are made for them. */
export interface UsualKeys {
  readonly config: JsonObject;
  readonly keys: ReadonlyMap<string, JsonObject>;
}

/** Keys for the fields of a kind that must name one with a reducer, and name none yet. */
export function usualKeys(doc: GraphDocument, configSchema: Json, config: JsonObject): UsualKeys {
  const named: JsonObject = {};
  const keys = new Map<string, JsonObject>();
  const root: Schema = isObject(configSchema) ? configSchema : {};
  for (const field of root.required ?? []) {
    const schema = resolve(root.properties?.[field], root);
    const wanted = schema["x-key"];
    if (schema["x-editor"] !== "state-key" || !isObject(wanted) || wanted["reducer"] === undefined) continue;
    if ((config[field] ?? "") !== "") continue;
    const fits = (name: string): boolean => {
      const key = doc.get(`key:${name}`);
      return isObject(key) && key["type"] === wanted["type"] && key["reducer"] === wanted["reducer"];
    };
    const fitting = doc.names("key").filter(fits);
    const name = fitting.length === 1 ? fitting[0] : fitting.find((key) => key === field);
    if (name !== undefined) named[field] = name;
    else if (fitting.length === 0 && !doc.has(`key:${field}`)) {
      named[field] = field;
      keys.set(field, wanted);
    }
  }
  return { config: { ...config, ...named }, keys };
}
