/** The nearest known name to a mistyped one; the same rule as in `crates/document/src/suggest.rs`. */

/** The known name that differs least, if it is near enough to be a typing error. */
export function nearest(wrong: string, known: Iterable<string>): string | undefined {
  const letters = [...wrong.toLowerCase()];
  // Of a short name, one changed letter makes another name.
  const limit = letters.length <= 2 ? 0 : Math.floor(letters.length / 3);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const other = [...name.toLowerCase()];
    if (Math.abs(other.length - letters.length) > limit) continue;
    const distance = differences(letters, other);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** How many letters are left out, added, replaced or swapped between the two. */
function differences(a: readonly string[], b: readonly string[]): number {
  let [two, one] = [[] as number[], b.map((_, index) => index)];
  one.push(b.length);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min(one[j]! + 1, row[j - 1]! + 1, one[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, two[j - 2]! + 1);
      row.push(cost);
    }
    [two, one] = [one, row];
  }
  return one[b.length]!;
}
