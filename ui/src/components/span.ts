/** Lengths of time in a field that counts one unit: typed as `2 h 30 min`, told as `≙ 2 h 30 min`. */

/** What a number of a field counts. */
export type SpanUnit = "s" | "ms" | "min";

const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, min: 60, m: 60, s: 1, ms: 0.001 };

/** How many of the unit a text of numbers with units stands for; null when it is none, or no whole number of them. */
export function parseSpan(text: string, unit: SpanUnit): number | null {
  const parts = [...text.matchAll(/(\d+(?:[.,]\d+)?)\s*(ms|min|d|h|m|s)\s*/gy)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text.trimStart()) return null;
  const seconds = parts.reduce(
    (sum, [, count = "", of = ""]) => sum + Number(count.replace(",", ".")) * (SECONDS[of] ?? Number.NaN),
    0,
  );
  const counted = Number((seconds / (SECONDS[unit] ?? 1)).toFixed(6));
  return Number.isInteger(counted) ? counted : null;
}

/** A count of the unit in larger ones; empty where it is read well as it is. */
export function spanText(count: number, unit: SpanUnit): string {
  let seconds = count * (SECONDS[unit] ?? 1);
  if (!Number.isFinite(seconds) || seconds < (unit === "ms" ? 1 : unit === "s" ? 120 : 7200)) return "";
  const parts: string[] = [];
  for (const of of ["d", "h", "min", "s"]) {
    const size = SECONDS[of] ?? 1;
    const whole = of === "s" ? Number(seconds.toFixed(3)) : Math.floor(seconds / size);
    seconds -= whole * size;
    if (whole > 0) parts.push(`${whole}\u202f${of}`);
  }
  return parts.join(" ");
}

/** The unit that a setting counts by its name. */
export function unitOf(name: string): SpanUnit | undefined {
  const [, end] = /_(s|ms|minutes)$/.exec(name) ?? [];
  return end === "minutes" ? "min" : end === "s" || end === "ms" ? end : undefined;
}
