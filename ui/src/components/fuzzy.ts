/** Fuzzy matching for palettes: the letters of the query in order, better when they begin words or stand together. */

export interface Match {
  score: number;
  /** Indexes of the matched characters. */
  at: number[];
}

/** How a text fits a query, or null when it does not. An empty query fits everything. */
export function fuzzy(text: string, query: string): Match | null {
  const wanted = query.toLowerCase().replace(/\s+/g, "");
  if (wanted === "") return { score: 0, at: [] };
  const plain = text.toLowerCase();
  const whole = plain.indexOf(query.toLowerCase().trim());
  if (whole >= 0) {
    const begins = whole === 0 || /[\s_\-./:]/.test(plain[whole - 1]!);
    const length = query.trim().length;
    return {
      score: 1000 + (begins ? 200 : 0) + (whole === 0 ? 100 : 0) - text.length,
      at: Array.from({ length }, (_, index) => whole + index),
    };
  }
  const at: number[] = [];
  let score = 0;
  let from = 0;
  for (const char of wanted) {
    // The beginning of a word is a better place than the next best one, as long as the rest still fits.
    const next = plain.indexOf(char, from);
    if (next < 0) return null;
    let place = next;
    for (let index = next; index >= 0; index = plain.indexOf(char, index + 1)) {
      if (startsWord(text, index) && fits(plain, wanted.slice(at.length + 1), index + 1)) {
        place = index;
        break;
      }
    }
    if (at.length > 0 && next === at.at(-1)! + 1) place = next;
    score += startsWord(text, place) ? 20 : at.length > 0 && place === at.at(-1)! + 1 ? 12 : 1;
    at.push(place);
    from = place + 1;
  }
  return { score: score - text.length / 10, at };
}

function startsWord(text: string, index: number): boolean {
  if (index === 0) return true;
  const before = text[index - 1]!;
  return /[\s_\-./:]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(text[index]!));
}

function fits(text: string, letters: string, from: number): boolean {
  let place = from;
  for (const char of letters) {
    const next = text.indexOf(char, place);
    if (next < 0) return false;
    place = next + 1;
  }
  return true;
}

/** The items that fit, best first; ties keep their order. */
export function fuzzyFilter<T>(
  items: readonly T[],
  query: string,
  textOf: (item: T) => readonly string[],
): T[] {
  if (query.trim() === "") return [...items];
  return items
    .map((item, index) => ({ item, index, score: fuzzyScore(textOf(item), query) }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ item }) => item);
}

/** How well the best of several texts fits: the first is the name, others (summary, kind) count for less. */
export function fuzzyScore(texts: readonly string[], query: string): number {
  const scores = texts.map((text, place) => {
    const match = fuzzy(text, query);
    // In those, only the beginning of a word is a find.
    if (match === null || (place > 0 && match.score < 1200 - text.length)) return -Infinity;
    return match.score - place * 400;
  });
  return Math.max(...scores);
}

/** A name without what people write differently: capitals, hyphens, underscores. */
export const plainName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, " ");
