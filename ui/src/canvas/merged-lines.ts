/** Lines that would lie on each other at the card of a folded frame are drawn as one, which says how many it is. */
import type { Line } from "./lines";

interface DrawnLine {
  readonly line: Line;
  /** All lines that it is drawn for; none when it is drawn for itself alone. */
  readonly merged: readonly Line[];
}

const ALONE: readonly Line[] = [];

/** What a line that is drawn for others shows best: a way that is always followed, before one that perhaps is. */
const rank = ({ form }: Line): number => (form === "plain" ? 0 : form === "join" ? 1 : 2);

export function mergedLines(lines: readonly Line[], shown: (name: string) => string): DrawnLine[] {
  const groups = new Map<string, Line[]>();
  const drawn: DrawnLine[] = [];
  for (const line of lines) {
    const [from, to] = [shown(line.from), shown(line.to)];
    if (from === line.from && to === line.to) {
      drawn.push({ line, merged: ALONE });
      continue;
    }
    // From a card that is drawn itself, lines with a port or a label leave apart from each other.
    const apart = from === line.from && (line.port !== null || line.label !== null) ? line.id : "";
    const key = `${from}\n${to}\n${apart}`;
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  for (const group of groups.values()) {
    const [line] = group.toSorted((a, b) => rank(a) - rank(b));
    if (line) drawn.push({ line, merged: group.length > 1 ? group : ALONE });
  }
  return drawn;
}
