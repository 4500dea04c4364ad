/** A query as a person writes it, and the request that it becomes. */
import type { FindMoments } from "../../ipc/bindings/FindMoments";
import type { SavedQuery } from "../../ipc/bindings/SavedQuery";
import type { RunStatus } from "../../ipc/bindings/RunStatus";

const CONDITIONS = ["where", "passed", "atEnd", "status", "since", "graph", "column"] as const;
export type ConditionKind = (typeof CONDITIONS)[number];

export interface Condition {
  readonly id: number;
  readonly kind: ConditionKind;
  readonly value: string;
}

export interface Query {
  readonly words: string;
  readonly conditions: readonly Condition[];
}

export const EMPTY: Query = { words: "", conditions: [] };

/** Results of an answer: the first lines come soon, the rest in parts. */
const PAGE = 100;

/** Every one but the columns may be there once. */
export function addable(query: Query): ConditionKind[] {
  const used = new Set(query.conditions.map(({ kind }) => kind));
  return CONDITIONS.filter((kind) => kind === "column" || !used.has(kind));
}

export function withCondition(query: Query, kind: ConditionKind, value: string): Query {
  const id = Math.max(0, ...query.conditions.map((condition) => condition.id)) + 1;
  return { ...query, conditions: [...query.conditions, { id, kind, value }] };
}

const HOUR = 3_600_000;
/** How long ago, by the value of the choice. */
export const SINCE: Readonly<Record<string, number>> = {
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 30 * 24 * HOUR,
};

/** The request; null while there is nothing to look for. */
export function requestOf(query: Query, graphId: string | null, now: number): FindMoments | null {
  const request: { -readonly [K in keyof FindMoments]: FindMoments[K] } = { limit: PAGE };
  const words = query.words.trim();
  if (words !== "") request.words = words;
  const columns: string[] = [];
  for (const { kind, value } of query.conditions) {
    const text = value.trim();
    if (text === "") continue;
    if (kind === "where") request.firstWhere = text;
    else if (kind === "atEnd") request.atEnd = text;
    else if (kind === "passed") request.passed = text.split(",").map((node) => node.trim());
    else if (kind === "status") request.status = text as RunStatus;
    else if (kind === "since") request.since = new Date(now - (SINCE[text] ?? 0)).toISOString();
    else if (kind === "graph") {
      if (graphId !== null) request.graphId = graphId;
    } else columns.push(text);
  }
  const asks = Object.keys(request).some((field) => field !== "limit" && field !== "graphId");
  if (columns.length > 0) request.columns = columns;
  return asks ? request : null;
}

/** Saved queries. */
export const MOST_SAVED = 100;

export function savedOf(query: Query, name: string): SavedQuery {
  return {
    name,
    words: query.words,
    conditions: query.conditions.map(({ kind, value }) => ({ kind, value })),
  };
}

/** A saved query as it is written; what this release does not know is left out. */
export function queryOf(saved: SavedQuery): Query {
  const known = saved.conditions.filter(({ kind }) => (CONDITIONS as readonly string[]).includes(kind));
  return {
    words: saved.words,
    conditions: known.map(({ kind, value }, id) => ({ id, kind: kind as ConditionKind, value })),
  };
}

/** The list with this query in it: in the place of one of the same name, or at the end. */
export function withSaved(list: readonly SavedQuery[], saved: SavedQuery): SavedQuery[] {
  const at = list.findIndex(({ name }) => name === saved.name);
  return at < 0 ? [...list, saved] : list.map((one, index) => (index === at ? saved : one));
}
