/** How often a person added what, in this browser: what is used often comes first among what matches as well. */
const STORE = "superstep.added";

export function readCounts(): Readonly<Record<string, number>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Record<string, number>) : {};
  } catch {
    return {};
  }
}

export function countUse(id: string): void {
  try {
    const counts = readCounts();
    localStorage.setItem(STORE, JSON.stringify({ ...counts, [id]: (counts[id] ?? 0) + 1 }));
  } catch {
    // Without storage the list is just not sorted by use.
  }
}
