/** The ways of a router as one edge that routes by its label, made of edges that are always followed. */
import type { GraphDocument } from "./document";
import { addEdge, Draft } from "./draft";
import { uniqueName } from "./edits";
import { declaredWays } from "./ports";
import type { Patch } from "./patch";
import { edgeOf, isObject, nodeOf, type Json, type JsonObject } from "./types";

/** The state key that a node's choice is in, or that it gets. */
export function routeKey(doc: GraphDocument, node: string): string {
  const { into } = nodeOf(doc.get(`node:${node}`)).config;
  return typeof into === "string" && into !== "" ? into : uniqueName(doc, "key", "way");
}

/**
 * Makes one route of a router's plain edges, or puts them into the route that is there. A label leads to the node of
 * the same name, the others to the targets in their order; a target without a label is where everything else goes. A
 * router that writes to no key gets one. Empty when no edge can become a way.
 */
export function routeByWays(doc: GraphDocument, node: string): Patch {
  const draft = new Draft(doc);
  const record = doc.get(`node:${node}`);
  const { config } = nodeOf(record);
  const edges = doc.edgesFrom(node);
  const form = (edge: string) => edgeOf(doc.get(`edge:${edge}`)).form;
  const route = edges.find((edge) => form(edge) === "route");
  const old = route === undefined ? undefined : doc.get(`edge:${route}`);
  const paths: JsonObject = isObject(old) && isObject(old["paths"]) ? { ...old["paths"] } : {};
  let rest: Json | undefined = isObject(old) ? old["default"] : undefined;
  const free = declaredWays(record)
    .map((way) => way.label)
    .filter((label) => !Object.hasOwn(paths, label));
  const plain = edges
    .filter((edge) => form(edge) === "plain")
    .map((edge) => ({ edge, to: edgeOf(doc.get(`edge:${edge}`)).targets[0] ?? "" }));
  const named = plain.filter(({ to }) => free.includes(to));
  const taken = new Set(named.map(({ to }) => to));
  const left = free.filter((label) => !taken.has(label));
  for (const { edge, to } of [...named, ...plain.filter((each) => !named.includes(each))]) {
    const label = taken.has(to) ? to : left.shift();
    if (label !== undefined) paths[label] = to;
    else if (rest === undefined) rest = to;
    else continue;
    draft.remove(`edge:${edge}`);
  }
  if (draft.patch().ops.length === 0 || !isObject(record)) return { ops: [] };
  const given = config["into"];
  const key = routeKey(doc, node);
  if (key !== given) {
    draft.set(`key:${key}`, { type: "string" });
    draft.set(`node:${node}`, { ...record, config: { ...config, into: key } });
  }
  const own: JsonObject = {
    ...(isObject(old)
      ? old
      : { from: node, route: /^[A-Za-z_]\w*$/.test(key) ? `state.${key}` : `state[${JSON.stringify(key)}]` }),
    paths,
    ...(rest === undefined ? {} : { default: rest }),
  };
  if (route === undefined) addEdge(draft, own);
  else draft.set(`edge:${route}`, own);
  return draft.patch();
}
