/** The order in which a search for something to add lists what it finds: by match, then by what fits, then by use. */
import { fuzzyScore, plainName } from "../../components/fuzzy";
import { errorWayOf } from "../../document/error-ways";
import { edgeOf, nodeOf, START, type Json } from "../../document/types";

export interface Findable {
  readonly title: string;
  /** A second line. */
  readonly text: string;
  /** Other names for it. */
  readonly words: readonly string[];
  /** What it stands among, by each name for that. */
  readonly category?: readonly string[] | undefined;
  /** More than one node: comes after a kind that matches as well. */
  readonly many?: boolean;
  /** A node that the graph has: comes before a kind, whatever fits, when its name is typed whole. */
  readonly isThere?: boolean;
  /** How often it is beside the node that a wire comes from. */
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
/** A category comes after what is called so itself, and before what only has the letters. */
const CATEGORY = 800;
/** A pattern that is named whole comes after a kind with such a name, and before what only sounds like it. */
const MANY = 900;
const MOST_FIT = 4;
const MOST_USED = 5;
/** More than all that breaks ties. */
const THERE = 100;

function ofWord(word: string, query: string): number {
  const name = plainName(word);
  if (name === query) return WORD;
  if (name.startsWith(query)) return WORD_BEGINS - name.length;
  return name.includes(` ${query}`) ? WORD_INSIDE - name.length : -Infinity;
}

/** Fewer letters begin too many words to mean a category. */
const CATEGORY_LETTERS = 3;

function ofCategory(category: string, query: string): number {
  const name = plainName(category);
  const begins = name.startsWith(query) || name.includes(` ${query}`);
  return begins && query.length >= Math.min(CATEGORY_LETTERS, name.length) ? CATEGORY : -Infinity;
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
    ...(item.category ?? []).map((name) => ofCategory(name, wanted)),
  );
  const there = item.isThere === true && title === TITLE ? THERE : 0;
  return best - (item.many === true ? MANY : 0) + there + weight(item);
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

/** Where a new node stands to the one that its wire is joined to already. */
export type Beside = "after" | "before" | "error";

/** How often each kind stands so beside a kind, or beside the start, in the graphs that are known. */
export function neighbours(
  graphs: readonly (readonly GraphRecord[])[],
  kind: string,
  side: Beside,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const records of graphs) {
    const kinds = new Map(
      records.flatMap(({ id, value }) =>
        id.startsWith("node:") ? [[id.slice(5), nodeOf(value).kind] as const] : [],
      ),
    );
    const count = (near: string, far: string) => {
      const other = kinds.get(far);
      const here = near === START ? START : kinds.get(near);
      if (other !== undefined && here === kind) found.set(other, (found.get(other) ?? 0) + 1);
    };
    for (const { id, value } of records) {
      if (side === "error") {
        const to = id.startsWith("node:") ? errorWayOf(value)?.to : undefined;
        if (to) count(id.slice(5), to);
      } else if (id.startsWith("edge:"))
        for (const { from, to } of edgeOf(value).paths)
          if (side === "after") count(from, to);
          else count(to, from);
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
