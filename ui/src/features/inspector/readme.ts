/** The README that stands beside a graph. */

/** Characters of a line that may be a title; none is longer, and somebody else wrote it. */
const LONGEST_TITLE = 500;

/** A README begins with the graph's name as a rule, which stands above already. */
export function withoutTitle(readme: string, name: string): string {
  const text = readme.trimStart();
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  if (line.length > LONGEST_TITLE || !/^#\s/.test(line)) return readme;
  let title = line.slice(1).trim();
  while (title.endsWith("#")) title = title.slice(0, -1);
  return title.trim().toLowerCase() === name.toLowerCase() ? text.slice(line.length + 1) : readme;
}
