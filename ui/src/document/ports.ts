/**
 * The ways in which a run may go on after a node, each a named port: what the settings declare and what the labels of
 * its routes say. All of it is read from the document; drawing from a port writes the same route that the forms write.
 */
import { t } from "../lib/texts";
import type { GraphDocument } from "./document";
import { addEdge, Draft } from "./draft";
import { canConnect, reconnect, removePath, uniqueName } from "./edits";
import {
  ERROR_PORT,
  errorEdge,
  errorNode,
  errorTarget,
  errorWayOf,
  removeErrorWay,
  setErrorWay,
} from "./error-ways";
import { withAllowed } from "./node-references";
import type { Patch } from "./patch";
import { edgeOf, isObject, nodeOf, START, type Json, type JsonObject } from "./types";

export interface Port {
  /** Unique at the node: the part of the route, and its id before it when the node has several routes. */
  readonly id: string;
  /** The label that takes this way; null for everything else. */
  readonly label: string | null;
  /** What is beside the port. */
  readonly title: string;
  /** The route that has the way; null when no route has it yet. */
  readonly edge: string | null;
  readonly part: string;
  readonly to: string | null;
}

export interface Ports {
  readonly ports: readonly Port[];
  /** The expression that chooses, unless it only reads the key that the node itself writes. */
  readonly expression: { readonly edge: string; readonly part: string; readonly text: string } | null;
  /** The way of a failure, under the others; null when the node just fails. */
  readonly error: Port | null;
}

/** All ports of a node with a row of their own. */
export function allPorts({ ports, error }: Ports): readonly Port[] {
  return error === null ? ports : [...ports, error];
}

interface Way {
  readonly label: string;
  readonly title: string;
}

const text = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

/** Kinds whose settings say what there is to choose from, and the key that a new one of them writes to. */
const DECLARED: Readonly<Record<string, { readonly key: string; ways(config: JsonObject): Way[] }>> = {
  router: {
    key: "way",
    ways: ({ ways, otherwise }) =>
      [...list(ways).map((way) => way["label"]), otherwise]
        .filter(text)
        .map((label) => ({ label, title: label })),
  },
  ask: {
    key: "decision",
    ways: ({ choices, otherwise }) => [
      ...list(choices).flatMap(({ label, value }) =>
        text(value) ? { label: value, title: text(label) ? label : value } : [],
      ),
      ...(text(otherwise) ? [{ label: otherwise, title: otherwise }] : []),
    ],
  },
};

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The labels by which the routes of a node lead on, each once. */
export function routeLabels(doc: GraphDocument, node: string): string[] {
  const labels = doc.edgesFrom(node).flatMap((edge) => {
    const paths = doc.get(`edge:${edge}`);
    return isObject(paths) && isObject(paths["paths"]) ? Object.keys(paths["paths"]) : [];
  });
  return [...new Set(labels)];
}

/** The ways that a node's settings declare, each once. */
export function declaredWays(record: Json | undefined): Way[] {
  const { kind, config } = nodeOf(record);
  const ways = DECLARED[kind]?.ways(config) ?? [];
  return ways.filter((way, index) => ways.findIndex((other) => other.label === way.label) === index);
}

function reading(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `state.${key}` : `state[${JSON.stringify(key)}]`;
}

/** The key that the node writes its choice to; empty when there is none yet. */
function keyOf(record: Json | undefined): string {
  const { into } = nodeOf(record).config;
  return text(into) ? into : "";
}

function readsKey(expression: string | undefined, key: string): boolean {
  const plain = expression?.trim();
  return key !== "" && (plain === reading(key) || plain === `state["${key}"]` || plain === `state['${key}']`);
}

const NONE: Ports = { ports: [], expression: null, error: null };

/** The port of what takes over when the node has failed. */
function errorPort(node: string, record: Json): Port | null {
  const way = errorWayOf(record);
  return (
    way && {
      id: ERROR_PORT,
      label: null,
      title: t(`canvas.port.error.${way.how}`),
      edge: way.to === null ? null : errorEdge(node),
      part: "",
      to: way.to,
    }
  );
}

/** The named ports of a node, in the order of its settings, then of its routes. */
export function portsOf(doc: GraphDocument, node: string): Ports {
  // The start is a pill without rows: the labels of its route stand on the lines.
  const record = doc.get(`node:${node}`);
  if (node === START || record === undefined) return NONE;
  const routes = doc.edgesFrom(node).filter((edge) => edgeOf(doc.get(`edge:${edge}`)).form === "route");
  const declared = declaredWays(record);
  const error = errorPort(node, record);
  if (routes.length === 0 && declared.length === 0) return error === null ? NONE : { ...NONE, error };
  const key = keyOf(record);
  const view = (edge: string) => edgeOf(doc.get(`edge:${edge}`));
  const main = routes.find((edge) => readsKey(view(edge).expression, key)) ?? routes[0] ?? null;
  const own = main === null || readsKey(view(main).expression, key);
  const paths = main === null ? [] : view(main).paths;
  const ports: Port[] = [];
  if (own) {
    for (const { label, title } of declared) {
      const path = paths.find((each) => each.label === label);
      ports.push({
        id: `=${label}`,
        label,
        title,
        edge: path ? main : null,
        part: `=${label}`,
        to: path?.to ?? null,
      });
    }
  }
  for (const edge of [main, ...routes.filter((other) => other !== main)]) {
    if (edge === null) continue;
    for (const { part, label, to } of view(edge).paths) {
      if (edge === main && ports.some((port) => port.part === part)) continue;
      ports.push({
        id: edge === main ? part : `${edge}|${part}`,
        label: label ?? null,
        title: label ?? t("canvas.line.else"),
        edge,
        part,
        to,
      });
    }
  }
  const first = ports.find((port) => port.edge === main);
  const expression =
    main === null || own || !first
      ? null
      : { edge: main, part: first.part, text: view(main).expression ?? "" };
  return { ports, expression, error };
}

/** A label that no port of the node has. */
export function freeWay(doc: GraphDocument, node: string, base: string): string {
  const taken = new Set(portsOf(doc, node).ports.map((port) => port.label));
  if (!taken.has(base)) return base;
  for (let count = 2; ; count += 1) if (!taken.has(`${base} ${count}`)) return `${base} ${count}`;
}

/** Where a wire leaves a node: at a port, at a port to be made, for everything else, when it fails, or besides all ways. */
export type Leaving =
  | { readonly way: "error" }
  | { readonly way: "port"; readonly id: string }
  | { readonly way: "new"; readonly label: string }
  | { readonly way: "else" }
  | { readonly way: "always" };

/** Where a wire leaves that was drawn from a port. */
export function leavingBy(port: string): Leaving {
  return port === ERROR_PORT ? { way: "error" } : { way: "port", id: port };
}

/** Draws a wire from one of the ways of a node. */
export function connectWay(doc: GraphDocument, node: string, leaving: Leaving, to: string): Patch {
  const draft = new Draft(doc);
  connectIn(draft, node, leaving, to);
  return draft.patch();
}

/** The same within a larger change. */
function connectIn(draft: Draft, node: string, leaving: Leaving, to: string): void {
  const { doc } = draft;
  if (!canConnect(node, to)) return;
  const plain = () =>
    doc.edgesFrom(node).filter((edge) => {
      const view = edgeOf(draft.get(`edge:${edge}`));
      return view.form === "plain" && view.targets[0] === to;
    });
  if (leaving.way === "error") {
    setErrorWay(draft, node, to);
    return;
  }
  if (leaving.way === "always") {
    if (plain().length === 0) addEdge(draft, { from: node, to });
    return;
  }
  const { ports } = portsOf(doc, node);
  const port = leaving.way === "port" ? ports.find(({ id }) => id === leaving.id) : undefined;
  if (leaving.way === "port" && !port) return;
  if (leaving.way === "new") declare(draft, node, leaving.label);
  const label = port ? port.label : leaving.way === "new" ? leaving.label : null;
  const route = port?.edge ?? mainRoute(draft, node);
  const old = route === null ? undefined : draft.get(`edge:${route}`);
  const record: JsonObject = isObject(old)
    ? old
    : { from: node, route: reading(writtenKey(draft, node)), paths: {} };
  const paths = isObject(record["paths"]) ? record["paths"] : {};
  const next: JsonObject =
    label === null ? { ...record, default: to } : { ...record, paths: { ...paths, [label]: to } };
  if (route !== null && isObject(old)) draft.set(`edge:${route}`, next);
  else addEdge(draft, next);
  // A wire that was drawn before to the same node would be followed whatever is chosen.
  for (const edge of plain()) draft.remove(`edge:${edge}`);
}

function mainRoute(draft: Draft, node: string): string | null {
  const key = keyOf(draft.get(`node:${node}`));
  const routes = draft.doc
    .edgesFrom(node)
    .filter((edge) => edgeOf(draft.get(`edge:${edge}`)).form === "route");
  const reads = (edge: string) => readsKey(edgeOf(draft.get(`edge:${edge}`)).expression, key);
  return routes.find(reads) ?? routes[0] ?? null;
}

/** The state key of the node's choice; made when the node writes to none. */
function writtenKey(draft: Draft, node: string): string {
  const record = draft.get(`node:${node}`);
  const { kind, config } = nodeOf(record);
  const given = keyOf(record);
  const key = given === "" ? uniqueName(draft.doc, "key", DECLARED[kind]?.key ?? "way") : given;
  if (draft.get(`key:${key}`) === undefined) draft.set(`key:${key}`, { type: "string" });
  if (key !== given && isObject(record))
    draft.set(`node:${node}`, { ...record, config: { ...config, into: key } });
  return key;
}

/** Adds a way to the settings of a node that declares its ways there. */
function declare(draft: Draft, node: string, label: string): void {
  const record = draft.get(`node:${node}`);
  const { kind, config } = nodeOf(record);
  if (!isObject(record)) return;
  const more: JsonObject | null =
    kind === "router"
      ? { ways: [...list(config["ways"]), { label, when: "" }] }
      : kind === "ask" && declaredWays(record).length > 0
        ? { choices: [...list(config["choices"]), { label, value: label }] }
        : null;
  if (more) draft.set(`node:${node}`, { ...record, config: { ...config, ...more } });
}

/** Moves a line to where its ends were dropped: to another node, another way, or from one form to the other. */
export function moveLine(
  doc: GraphDocument,
  edge: string,
  part: string,
  ends: { readonly from: string; readonly port: string | null; readonly to: string },
): Patch {
  const failing = errorNode(doc, edge);
  if (failing !== null) return moveErrorWay(doc, failing, ends);
  const view = edgeOf(doc.get(`edge:${edge}`));
  const path = view.paths.find((each) => each.part === part);
  if (!path || !canConnect(ends.from, ends.to)) return { ops: [] };
  const ported = view.form === "route" && path.from !== START;
  const { ports } = portsOf(doc, path.from);
  const here = ported ? ports.find((port) => port.edge === edge && port.part === part) : undefined;
  if (ends.from === path.from && ends.port === (here?.id ?? null))
    return reconnect(doc, edge, part, { to: ends.to });
  if (!ported && ends.port === null) return reconnect(doc, edge, part, { from: ends.from, to: ends.to });
  const draft = new Draft(doc);
  // The new way first, while the ports are as they were seen.
  connectIn(draft, ends.from, ends.port === null ? { way: "always" } : leavingBy(ends.port), ends.to);
  removePath(draft, edge, part);
  return draft.patch();
}

/** The same for the way of a failure; at another port it becomes what that port is for. */
function moveErrorWay(
  doc: GraphDocument,
  node: string,
  { from, port, to }: { readonly from: string; readonly port: string | null; readonly to: string },
): Patch {
  const draft = new Draft(doc);
  if (!canConnect(from, to)) return draft.patch();
  const way = errorWayOf(doc.get(`node:${node}`));
  if (from === node && port === ERROR_PORT) {
    if (errorTarget(doc, errorEdge(node)) !== to) setErrorWay(draft, node, to);
    return draft.patch();
  }
  connectIn(draft, from, port === null ? { way: "always" } : leavingBy(port), to);
  if (draft.patch().ops.length === 0 || way === null) return draft.patch();
  removeErrorWay(draft, node);
  return draft.patch();
}

/** Gives a way another name: in the settings, in the route, and among the values of the key between them. */
export function renameWay(doc: GraphDocument, node: string, port: string, to: string): Patch {
  const draft = new Draft(doc);
  const { ports } = portsOf(doc, node);
  const found = ports.find(({ id }) => id === port);
  const from = found?.label;
  if (!found || from === null || from === undefined || to === "" || to === found.title) return draft.patch();
  const record = doc.get(`node:${node}`);
  const { kind, config } = nodeOf(record);
  const declared = found.id === found.part && declaredWays(record).some((way) => way.label === from);
  // A choice whose value is another text keeps it: only what stands on the button changes.
  const titled = kind === "ask" && declared && found.title !== from;
  if (!titled && ports.some((other) => other.label === to && other.edge === found.edge)) return draft.patch();
  if (declared && isObject(record)) {
    const own = (name: string): Json | undefined => {
      const value = config[name];
      if (!Array.isArray(value)) return value === from && !titled ? to : value;
      return value.map((item) => {
        if (!isObject(item)) return item;
        if (kind !== "ask") return item["label"] === from ? { ...item, label: to } : item;
        if (item["value"] !== from) return item;
        return titled ? { ...item, label: to } : { ...item, label: to, value: to };
      });
    };
    const next: JsonObject = { ...config };
    for (const name of [kind === "ask" ? "choices" : "ways", "otherwise"]) {
      const value = own(name);
      if (value !== undefined) next[name] = value;
    }
    draft.set(`node:${node}`, { ...record, config: next });
    const key = doc.get(`key:${keyOf(record)}`);
    if (!titled && isObject(key))
      draft.set(
        `key:${keyOf(record)}`,
        withAllowed(key, (name) => (name === from ? to : undefined), false),
      );
  }
  const route = found.edge === null ? undefined : doc.get(`edge:${found.edge}`);
  if (!titled && found.edge !== null && isObject(route) && isObject(route["paths"])) {
    const paths = Object.entries(route["paths"]).map(([label, target]) => [
      label === from ? to : label,
      target,
    ]);
    draft.set(`edge:${found.edge}`, { ...route, paths: Object.fromEntries(paths) as JsonObject });
  }
  return draft.patch();
}
