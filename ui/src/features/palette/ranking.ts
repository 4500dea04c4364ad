/** The order in which a search for something to add lists what it finds: by match, then by what fits, then by use. */
import { fuzzyScore, plainName } from "../../components/fuzzy";
import { edgeOf, nodeOf, type Json } from "../../document/types";

export interface Findable {
  readonly title: string;
  /** A second line. */
  readonly text: string;
  /** Other names for it. */
  readonly words: readonly string[];
  /** More than one node: comes after a kind that matches as well. */
  readonly many?: boolean;
  /** How often it stands beside the node that a wire comes from. */
  readonly fit?: number | undefined;
  /** How often it was added. */
  readonly used?: number | undefined;
}

interface GraphRecord {
  readonly id: string;
  readonly value: Json;
}

const TITLE = 2000;
const WORD = 1800;
const WORD_BEGINS = 1150;
const WORD_INSIDE = 950;
/** A pattern that is named whole comes after a kind with such a name, and before what only sounds like it. */
const MANY = 900;
const MOST_FIT = 4;
const MOST_USED = 5;

function ofWord(word: string, query: string): number {
  const name = plainName(word);
  if (name === query) return WORD;
  if (name.startsWith(query)) return WORD_BEGINS - name.length;
  return name.includes(` ${query}`) ? WORD_INSIDE - name.length : -Infinity;
}

/** What breaks ties: what fits where the wire comes from, and what is added often. */
const weight = ({ fit = 0, used = 0 }: Findable) =>
  Math.min(fit, MOST_FIT) * 10 + Math.min(used, MOST_USED) * 2;

function scoreOf(item: Findable, query: string): number {
  const wanted = plainName(query);
  const title = plainName(item.title) === wanted ? TITLE : -Infinity;
  const best = Math.max(
    title,
    fuzzyScore([item.title, item.text], query),
    ...item.words.map((word) => ofWord(word, wanted)),
  );
  return best - (item.many === true ? MANY : 0) + weight(item);
}

/** The items that match a query, the best first; all of them, by fit and use, without one. */
export function ranked<T extends Findable>(items: readonly T[], query: string): T[] {
  if (plainName(query) === "") return items.toSorted((a, b) => weight(b) - weight(a));
  return items
    .map((item) => ({ item, score: scoreOf(item, query) }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

/** The most kinds that are suggested. */
const SUGGESTED = 4;

/** What stands beside such a node most often comes first, below a heading of its own. */
export function suggestedFirst<T extends Findable & { readonly group: string }>(
  items: readonly T[],
  group: string,
): T[] {
  const suggested = items
    .filter(({ fit = 0 }) => fit > 0)
    .toSorted((a, b) => (b.fit ?? 0) - (a.fit ?? 0))
    .slice(0, SUGGESTED);
  const others = items.filter((item) => !suggested.includes(item));
  return [...suggested.map((item) => ({ ...item, group })), ...others];
}

/** How often each kind follows (or comes before) a kind, in the graphs that are known. */
export function neighbours(
  graphs: readonly (readonly GraphRecord[])[],
  kind: string,
  side: "after" | "before",
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const records of graphs) {
    const kinds = new Map(
      records.flatMap(({ id, value }) =>
        id.startsWith("node:") ? [[id.slice(5), nodeOf(value).kind] as const] : [],
      ),
    );
    for (const { id, value } of records) {
      if (!id.startsWith("edge:")) continue;
      for (const { from, to } of edgeOf(value).paths) {
        const [near, far] = side === "after" ? [from, to] : [to, from];
        const other = kinds.get(far);
        if (kinds.get(near) === kind && other !== undefined) found.set(other, (found.get(other) ?? 0) + 1);
      }
    }
  }
  return found;
}

/** What a graph shows how to do, by the shape of its edges: a loop, a fan-out, a join. */
export function shapeWords(records: readonly GraphRecord[]): string[] {
  const edges = records.filter(({ id }) => id.startsWith("edge:")).map(({ value }) => edgeOf(value));
  const words: string[] = [];
  if (edges.some(({ form }) => form === "each"))
    words.push("Send", "fan out", "parallel", "foreach", "map reduce");
  if (edges.some(({ form }) => form === "join")) words.push("merge", "join", "fan in", "wait for all");
  if (hasLoop(edges.flatMap(({ paths }) => paths))) words.push("loop", "while", "repeat", "cycle", "retry");
  return words;
}

function hasLoop(paths: readonly { from: string; to: string }[]): boolean {
  const next = new Map<string, string[]>();
  for (const { from, to } of paths) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const open = new Set<string>();
  const visit = (node: string): boolean => {
    if (open.has(node)) return true;
    if (done.has(node)) return false;
    open.add(node);
    const found = (next.get(node) ?? []).some(visit);
    open.delete(node);
    done.add(node);
    return found;
  };
  return [...next.keys()].some(visit);
}
