/** Moves a record to another place in its section: out and in again, which is what a patch can say. */
import type { GraphDocument } from "../../document/document";
import { op, type Patch } from "../../document/patch";

export function moveKey(doc: GraphDocument, name: string, by: 1 | -1): Patch {
  const names = doc.names("key");
  const at = names.indexOf(name);
  const to = at + by;
  const value = doc.get(`key:${name}`);
  if (at < 0 || to < 0 || to >= names.length || value === undefined) return { ops: [] };
  return { ops: [op(`key:${name}`, value, undefined, at), op(`key:${name}`, undefined, value, to)] };
}
