/**
 * Where a run goes on when a node's last attempt has failed, as a wire: read from the node's `fallback`, and written to
 * it by drawing, moving and deleting that wire. A wire of this kind has an id like an edge, but is a setting of its node.
 */
import type { GraphDocument } from "./document";
import type { Draft } from "./draft";
import { END, isObject, NOTE, nodeOf, START, type Json, type JsonObject } from "./types";

/** The port that it leaves. */
export const ERROR_PORT = "!error";
const PREFIX = "on-error:";

export interface ErrorWay {
  /** The node that is named; null when the fallback is a value and leads nowhere. */
  readonly to: string | null;
  /** The run goes on there; the node does the work; a value is written. */
  readonly how: "branch" | "node" | "value";
}

/** What the record of a node says about its failure; null when it just fails. */
export function errorWayOf(record: Json | undefined): ErrorWay | null {
  const fallback = isObject(record) ? record["fallback"] : undefined;
  if (!isObject(fallback)) return null;
  const name = (field: string) => {
    const value = fallback[field];
    return typeof value === "string" && value !== "" ? value : null;
  };
  if ("to" in fallback) return { to: name("to"), how: "branch" };
  if ("node" in fallback) return { to: name("node"), how: "node" };
  return { to: null, how: "value" };
}

/** The id of a node's wire. */
export function errorEdge(node: string): string {
  return PREFIX + node;
}

/** The node whose wire an id means; null for the id of an edge. */
export function errorNode(doc: GraphDocument, edge: string): string | null {
  if (!edge.startsWith(PREFIX) || doc.has(`edge:${edge}`)) return null;
  const node = edge.slice(PREFIX.length);
  return doc.has(`node:${node}`) ? node : null;
}

/** Where the wire of an id leads; null when there is none. */
export function errorTarget(doc: GraphDocument, edge: string): string | null {
  const node = errorNode(doc, edge);
  return node === null ? null : (errorWayOf(doc.get(`node:${node}`))?.to ?? null);
}

/** Leads the failure of a node to another one. What the wire did before, it does there. */
export function setErrorWay(draft: Draft, node: string, to: string): void {
  const record = draft.get(`node:${node}`);
  if (!isObject(record) || node === to || to === START || nodeOf(record).kind === NOTE) return;
  const { fallback } = record;
  // The end does no work: a run can only go on there.
  const works = errorWayOf(record)?.how === "node" && to !== END;
  const { value: _value, node: _node, ...rest }: JsonObject = isObject(fallback) ? fallback : {};
  draft.set(`node:${node}`, { ...record, fallback: works ? { node: to } : { ...rest, to } });
}

/** Takes the wire away: the node's failure is the run's again. */
export function removeErrorWay(draft: Draft, node: string): void {
  const record = draft.get(`node:${node}`);
  if (!isObject(record) || !("fallback" in record)) return;
  const { fallback: _was, ...rest } = record;
  draft.set(`node:${node}`, rest);
}

/** Takes away, or leads elsewhere, what leads to nodes that are about to go. */
export function dropErrorWaysTo(
  draft: Draft,
  doomed: ReadonlySet<string>,
  instead: string | undefined = undefined,
): void {
  for (const name of draft.doc.names("node")) {
    if (doomed.has(name)) continue;
    const to = errorWayOf(draft.get(`node:${name}`))?.to;
    if (to === null || to === undefined || !doomed.has(to)) continue;
    if (instead === undefined || instead === name) removeErrorWay(draft, name);
    else setErrorWay(draft, name, instead);
  }
}

/** The record with its fallback led to the nodes' new names. */
export function withErrorWayNamed(
  record: JsonObject,
  next: (name: string) => string | undefined,
): JsonObject {
  const fallback = record["fallback"];
  const way = errorWayOf(record);
  const to = way?.to === undefined || way.to === null ? undefined : next(way.to);
  if (to === undefined || !isObject(fallback)) return record;
  return { ...record, fallback: { ...fallback, [way?.how === "node" ? "node" : "to"]: to } };
}
