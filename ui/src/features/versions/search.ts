/** The search over versions and commits. */

/** Is every word of a search in what a row shows? */
export function isFound(search: string, texts: readonly string[]): boolean {
  const shown = texts.join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}
