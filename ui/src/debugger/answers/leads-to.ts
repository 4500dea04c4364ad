/**
 * Where an answer leads, read from the open document without running anything: only what is certain from the edges of
 * the asking node. An edge whose expression is not a plain look at the answer is left out rather than guessed at.
 */
import { isObject } from "../parts/diff";

export interface EdgeRecord {
  readonly value: unknown;
}

/** Names of the nodes that follow `node` when it writes `answer` into `into`; undefined when that is not known. */
export function leadsTo(
  edges: readonly EdgeRecord[],
  node: string,
  into: string,
  answer: unknown,
): string[] | undefined {
  const targets: string[] = [];
  let known = false;
  for (const { value: edge } of edges) {
    if (!isObject(edge)) continue;
    const sources = Array.isArray(edge.from) ? edge.from : [edge.from];
    if (!sources.includes(node)) continue;
    if (typeof edge.route === "string" && isObject(edge.paths)) {
      const label = read(edge.route, into, answer);
      if (typeof label !== "string" && typeof label !== "number" && typeof label !== "boolean")
        return undefined;
      const target = edge.paths[String(label)] ?? edge.default;
      if (typeof target !== "string") return undefined;
      targets.push(target);
      known = true;
    } else if (typeof edge.when === "string") {
      const holds = test(edge.when, into, answer);
      if (holds === undefined) return undefined;
      known = true;
      if (holds && typeof edge.to === "string") targets.push(edge.to);
    } else if ("each" in edge) {
      return undefined;
    } else if (typeof edge.to === "string") {
      targets.push(edge.to);
      known = true;
    }
  }
  return known ? [...new Set(targets)] : undefined;
}

/** The value of `state.into` or `state.into.field`, when the expression is just that. */
function read(expression: string, into: string, answer: unknown): unknown {
  const match = /^\s*state\.([\p{L}_][\p{L}\p{N}_]*)((?:\.[\p{L}_][\p{L}\p{N}_]*)*)\s*$/u.exec(expression);
  if (!match || match[1] !== into) return undefined;
  let at: unknown = answer;
  for (const part of (match[2] ?? "").split(".").filter(Boolean)) {
    if (!isObject(at)) return undefined;
    at = at[part];
  }
  return at;
}

/** Whether `state.into == 'x'` (or `!=`, or the bare value) holds. */
function test(expression: string, into: string, answer: unknown): boolean | undefined {
  const compare = /^(.*?)(==|!=)\s*(?:'([^']*)'|"([^"]*)"|(true|false|-?\d+(?:\.\d+)?))\s*$/u.exec(
    expression,
  );
  if (compare) {
    const left = read(compare[1] ?? "", into, answer);
    if (left === undefined) return undefined;
    const literal = compare[5];
    const right = literal === undefined ? (compare[3] ?? compare[4]) : (JSON.parse(literal) as unknown);
    return compare[2] === "==" ? left === right : left !== right;
  }
  const negated = /^\s*not\s+(.*)$/u.exec(expression);
  const value = read(negated?.[1] ?? expression, into, answer);
  return typeof value === "boolean" ? value !== (negated !== null) : undefined;
}
