/**
 * Where a time is drawn, from 0 to 1. Each run has its share of the width; the time between runs, in which nothing worked,
 * is a gap of one width however long it was. Pure.
 */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Axis {
  at(time: number): number;
  /** Milliseconds that are drawn at their length. */
  readonly millis: number;
}

/** All gaps together take at most this part. */
const GAPS = 0.2;
const GAP = 0.04;

export function axisOf(stretches: readonly Stretch[]): Axis {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to: Math.max(from, to) });
  }
  const millis = merged.reduce((sum, { from, to }) => sum + to - from, 0);
  const gaps = Math.max(0, merged.length - 1);
  const gap = gaps === 0 ? 0 : Math.min(GAP, GAPS / gaps);
  const scale = millis === 0 ? 0 : (1 - gap * gaps) / millis;
  let x = 0;
  const placed = merged.map(({ from, to }) => {
    const place = { from, to, x };
    x += (to - from) * scale + gap;
    return place;
  });
  return {
    millis,
    at: (time) => {
      let [low, high] = [0, placed.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((placed[middle]?.from ?? Infinity) <= time) low = middle;
        else high = middle - 1;
      }
      const place = placed[low];
      if (!place || time < place.from) return 0;
      const within = place.x + (Math.min(time, place.to) - place.from) * scale;
      const next = placed[low + 1];
      if (time <= place.to || !next) return Math.min(1, within);
      return within + gap * ((time - place.to) / (next.from - place.to));
    },
  };
}
