/** The shapes of a graph document's records, as in `docs/graph-format.md`. A broken file may hold anything, so readers go through the guards here. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export type Section = "key" | "node" | "edge" | "layout";
export const SECTIONS: readonly Section[] = ["key", "node", "edge", "layout"];

export const START = "__start__";
/** The kind of a node that is a text on the canvas and no part of the graph. */
export const NOTE = "note";
/** The kind of a node that runs another graph. */
export const GRAPH = "graph";
/** The kind of a node that threads of another program ran; what it does is not known. */
export const SEEN = "seen";
/** The kind of a node of a program that is attached. */
export const ATTACHED = "attached";
export const END = "__end__";
/** The kind of a node that does nothing but choose among its ways. */
export const ROUTER = "router";

export interface NodeRecord {
  readonly kind: string;
  readonly config: JsonObject;
  readonly title?: string;
  readonly description?: string;
}

/** One line of an edge on the canvas: a route has one for each label, a join one for each source. */
export interface EdgePath {
  /** Unique within the edge: the label, `default`, or the source of a join. */
  readonly part: string;
  readonly from: string;
  readonly to: string;
  /** A route's label; null for its default. Absent for other forms. */
  readonly label?: string | null;
}

export type EdgeForm = "plain" | "join" | "when" | "route" | "each" | "limit";

export interface EdgeView {
  readonly form: EdgeForm;
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly paths: readonly EdgePath[];
  /** The expression of `when`, `route` or `each`. */
  readonly expression?: string;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function sectionOf(recordId: string): { section: Section; name: string } | null {
  const colon = recordId.indexOf(":");
  if (colon < 0) return null;
  const section = recordId.slice(0, colon) as Section;
  return SECTIONS.includes(section) ? { section, name: recordId.slice(colon + 1) } : null;
}

export function nodeOf(value: Json | undefined): NodeRecord {
  if (!isObject(value)) return { kind: "", config: {} };
  return {
    kind: typeof value["kind"] === "string" ? value["kind"] : "",
    config: isObject(value["config"]) ? value["config"] : {},
    ...(typeof value["title"] === "string" ? { title: value["title"] } : {}),
    ...(typeof value["description"] === "string" ? { description: value["description"] } : {}),
  };
}

const edgeViews = new WeakMap<object, EdgeView>();

/** What an edge record connects. Reads are cached by identity: records never change in place. */
export function edgeOf(value: Json | undefined): EdgeView {
  if (!isObject(value)) return { form: "plain", sources: [], targets: [], paths: [] };
  let view = edgeViews.get(value);
  if (!view) {
    view = readEdge(value);
    edgeViews.set(value, view);
  }
  return view;
}

function readEdge(edge: JsonObject): EdgeView {
  const text = (field: string) => (typeof edge[field] === "string" ? edge[field] : undefined);
  const from = edge["from"];
  const to = text("to");
  if (Array.isArray(from)) {
    const sources = from.filter((source): source is string => typeof source === "string");
    const paths = to === undefined ? [] : sources.map((source) => ({ part: source, from: source, to }));
    return { form: "join", sources, targets: to === undefined ? [] : [to], paths };
  }
  const source = typeof from === "string" ? from : undefined;
  const sources = source === undefined ? [] : [source];
  const route = text("route");
  if (route !== undefined || isObject(edge["paths"])) {
    const paths: EdgePath[] = [];
    if (source !== undefined) {
      for (const [label, target] of Object.entries(isObject(edge["paths"]) ? edge["paths"] : {})) {
        if (typeof target === "string") paths.push({ part: `=${label}`, from: source, to: target, label });
      }
      const otherwise = text("default");
      if (otherwise !== undefined) paths.push({ part: "default", from: source, to: otherwise, label: null });
    }
    const targets = [...new Set(paths.map((path) => path.to))];
    return { form: "route", sources, targets, paths, expression: route ?? "" };
  }
  const targets = to === undefined ? [] : [to];
  const paths = source === undefined || to === undefined ? [] : [{ part: "", from: source, to }];
  const each = text("each");
  if (each !== undefined) return { form: "each", sources, targets, paths, expression: each };
  const when = text("when");
  if (when !== undefined) return { form: "when", sources, targets, paths, expression: when };
  // Taken in place of its node, once that was visited as often as it may be.
  const atLimit = edge["limit"] === true && source !== undefined;
  return { form: atLimit ? "limit" : "plain", sources, targets, paths };
}

export function positionOf(value: Json | undefined): { x: number; y: number } | null {
  if (!Array.isArray(value)) return null;
  const [x, y] = value;
  return typeof x === "number" && typeof y === "number" && Number.isFinite(x) && Number.isFinite(y)
    ? { x, y }
    : null;
}
