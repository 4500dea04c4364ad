/** The picture of how something grew: values from left to right in a box of 100 by 30, as paths of an SVG. */
export function areaOf(totals: readonly number[]): { path: string; line: string } {
  const most = Math.max(1, ...totals);
  const last = Math.max(1, totals.length - 1);
  const points = totals.map((total, index) => {
    const x = (100 * index) / last;
    const y = 30 - (29 * total) / most;
    return `${+x.toFixed(2)} ${+y.toFixed(2)}`;
  });
  const line = `M${points.join("L")}`;
  return { line, path: `${line}L100 30L0 30Z` };
}
