/** What can be done to an edge that is there: its form, its expression, its paths; each as a patch. */
import type { GraphDocument } from "./document";
import { addEdge, Draft } from "./draft";
import { findPlain, setField, setRecord } from "./edits";
import type { Patch } from "./patch";
import { edgeOf, END, isObject, START, type EdgeForm, type JsonObject } from "./types";

/** What the limit of a loop begins with. */
export const USUAL_BOUND = 5;

/** Changes the expression of a `when`, `route` or `each` edge. */
export function setExpression(doc: GraphDocument, edge: string, expression: string): Patch {
  const { form } = edgeOf(doc.get(`edge:${edge}`));
  if (form !== "when" && form !== "route" && form !== "each") return { ops: [] };
  return setField(doc, `edge:${edge}`, `/${form}`, expression);
}

/** Renames a route's label in its place. Empty when the new one is taken or empty. */
export function renamePath(doc: GraphDocument, edge: string, from: string, to: string): Patch {
  const record = doc.get(`edge:${edge}`);
  const paths = isObject(record) ? record["paths"] : undefined;
  if (!isObject(record) || !isObject(paths) || to === from || to === "" || Object.hasOwn(paths, to))
    return { ops: [] };
  const next = Object.fromEntries(
    Object.entries(paths).map(([label, target]) => [label === from ? to : label, target]),
  );
  return setRecord(doc, `edge:${edge}`, { ...record, paths: next });
}

/** Gives a route one more label. */
export function addPath(doc: GraphDocument, edge: string, label: string, to: string): Patch {
  const record = doc.get(`edge:${edge}`);
  if (!isObject(record) || edgeOf(record).form !== "route") return { ops: [] };
  const paths = isObject(record["paths"]) ? record["paths"] : {};
  if (Object.hasOwn(paths, label)) return { ops: [] };
  return setRecord(doc, `edge:${edge}`, { ...record, paths: { ...paths, [label]: to } });
}

/** A label that the route does not have yet. */
export function freeLabel(doc: GraphDocument, edge: string, base: string): string {
  const taken = new Set(edgeOf(doc.get(`edge:${edge}`)).paths.map((path) => path.label));
  if (!taken.has(base)) return base;
  for (let count = 2; ; count += 1) if (!taken.has(`${base} ${count}`)) return `${base} ${count}`;
}

/** Plain edges that lead to the same node as this one, and could be waited for together with it. */
export function joinable(doc: GraphDocument, edge: string): string[] {
  const own = edgeOf(doc.get(`edge:${edge}`));
  const target = own.targets[0];
  const sources = new Set([START, ...own.sources]);
  if (target === undefined || target === END || own.sources.includes(START)) return [];
  return doc.edgesTo(target).filter((other) => {
    const view = edgeOf(doc.get(`edge:${other}`));
    const source = view.sources[0] ?? START;
    if (other === edge || view.form !== "plain" || sources.has(source)) return false;
    sources.add(source);
    return true;
  });
}

/**
 * Makes an edge of another form out of this one, keeping what both have. The record and its id stay. A join takes the
 * place of the plain edges into its target, and gives it back to them.
 */
export function setEdgeForm(doc: GraphDocument, edge: string, form: EdgeForm): Patch {
  const record = doc.get(`edge:${edge}`);
  const view = edgeOf(record);
  const source = view.sources[0];
  const target = view.targets[0] ?? END;
  if (!isObject(record) || source === undefined || view.form === form) return { ops: [] };
  const keep: JsonObject = { ...record };
  for (const field of ["from", "to", "when", "route", "paths", "default", "each", "as", "with", "limit"])
    delete keep[field];
  const expression = view.expression ?? "";
  const draft = new Draft(doc);
  const sources = [...view.sources];
  if (form === "join")
    for (const other of joinable(doc, edge)) {
      sources.push(...edgeOf(doc.get(`edge:${other}`)).sources);
      draft.remove(`edge:${other}`);
    }
  const ends: Record<EdgeForm, JsonObject> = {
    plain: { from: source, to: target },
    when: { from: source, to: target, when: expression || "true" },
    join: { from: sources, to: target },
    route: { from: source, route: expression, paths: { [labelFor(target)]: target } },
    each: { from: source, each: expression, as: "item", to: target },
    limit: { from: source, to: target, limit: true },
  };
  // Without a limit the way would never be taken.
  const node = draft.get(`node:${source}`);
  if (form === "limit" && isObject(node) && node["max_visits"] === undefined)
    draft.set(`node:${source}`, { ...node, max_visits: USUAL_BOUND });
  draft.set(`edge:${edge}`, { ...keep, ...ends[form] });
  if (view.form === "join" && form === "plain")
    for (const other of view.sources.slice(1))
      if (findPlain(doc, other, target) === undefined) addEdge(draft, { from: other, to: target });
  return draft.patch();
}

function labelFor(target: string): string {
  return target === END ? "done" : target;
}
