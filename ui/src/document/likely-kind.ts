/** Which kind is meant by one that is not known here: a slip of the fingers, or the name that another tool has for it. Pure. */
import { plainName } from "../components/fuzzy";

interface Named {
  readonly kind: string;
  readonly title: string;
  readonly aliases: readonly string[];
}

/** Letters that may differ in a name that was mistyped. */
const SLIPS = 2;

export function likelyKind<T extends Named>(kinds: readonly T[], unknown: string): T | undefined {
  // A name with a package before it, and one with its kind of thing behind it, as `pkg.httpRequest` and `LlmNode`.
  const last = unknown.split(/[./:]/).at(-1) ?? unknown;
  const names = [unknown, last, last.replace(/[_ -]?node$/i, "")].map(plain).filter((name) => name !== "");
  for (const name of names) {
    const same = kinds.find((each) =>
      [each.kind, each.title, ...each.aliases].some((one) => plain(one) === name),
    );
    if (same) return same;
  }
  const [wanted = ""] = names;
  const near = kinds
    .map((each) => ({ each, far: distance(plain(each.kind), wanted) }))
    .filter(({ each, far }) => far <= SLIPS && far < plain(each.kind).length / 2)
    .toSorted((a, b) => a.far - b.far);
  return near[0]?.each;
}

/** Words that are written together, apart or with signs between them are the same. */
const plain = (name: string): string => plainName(name).replace(/[\s_-]+/g, "");

function distance(a: string, b: string): number {
  // Long names are no slips of short ones.
  if (Math.abs(a.length - b.length) > SLIPS) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? Infinity;
}
