/** The order of a grid's results. Pure. */
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";

export type SortColumn = "row" | "name" | "status" | "score" | "tokens" | "cost" | "time";

const place = (result: WhatIfResult): number => result.row * 1_000 + result.repeat;

/** The best score first: numbers, then true before false, then texts, then none. */
function byScore(a: unknown, b: unknown): number {
  const rank = (score: unknown) =>
    typeof score === "number" ? 0 : typeof score === "boolean" ? 1 : typeof score === "string" ? 2 : 3;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b, "en");
  return Number(b ?? 0) - Number(a ?? 0);
}

const total = (result: WhatIfResult): number => result.cost.reduce((sum, { amount }) => sum + amount, 0);

/** The results by a column; rows that are alike there stay in their order. */
export function ordered(grid: WhatIfView, column: SortColumn): readonly WhatIfResult[] {
  const name = (result: WhatIfResult) => grid.names[result.row] ?? "";
  const compare: Record<SortColumn, (a: WhatIfResult, b: WhatIfResult) => number> = {
    row: () => 0,
    name: (a, b) => name(a).localeCompare(name(b), "en"),
    status: (a, b) => a.status.localeCompare(b.status, "en"),
    score: (a, b) => byScore(a.score, b.score),
    tokens: (a, b) => a.tokens - b.tokens,
    cost: (a, b) => total(a) - total(b),
    time: (a, b) => a.millis - b.millis,
  };
  return grid.results.toSorted((a, b) => compare[column](a, b) || place(a) - place(b));
}
