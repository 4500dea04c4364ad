/** Arrow keys walk the graph: along its lines to the right and left, to the nearest neighbour up and down. */
import type { Scene } from "./window";

export type Direction = "left" | "right" | "up" | "down";

/** The node that is next in a direction; from nowhere, the first one. */
export function walk(scene: Scene, from: string | null, direction: Direction): string | null {
  const here = from === null ? undefined : scene.rect(from);
  if (from === null || !here) return scene.rects().keys().next().value ?? null;
  const middle = { x: here.x + here.width / 2, y: here.y + here.height / 2 };
  const away = (name: string) => {
    const rect = scene.rect(name);
    if (!rect) return Infinity;
    return Math.hypot(rect.x + rect.width / 2 - middle.x, (rect.y + rect.height / 2 - middle.y) * 2);
  };
  if (direction === "left" || direction === "right") {
    const lines = [from, ...scene.heldBy(from)]
      .flatMap((name) => scene.edgesOf(name))
      .flatMap((edge) => scene.linesOf(edge));
    const linked = [
      ...new Set(
        lines.flatMap((line) => {
          const [here, there] = direction === "right" ? [line.from, line.to] : [line.to, line.from];
          return scene.shown(here) === from ? [scene.shown(there)] : [];
        }),
      ),
    ];
    const ahead = (name: string) => {
      const x = scene.rect(name)?.x ?? 0;
      return direction === "right" ? x > here.x : x < here.x;
    };
    const forward = linked.filter((name) => name !== from && ahead(name));
    const next = (forward.length > 0 ? forward : linked.filter((name) => name !== from)).toSorted(
      (a, b) => away(a) - away(b),
    )[0];
    if (next !== undefined) return next;
  }
  return nearest(scene, from, direction);
}

function nearest(scene: Scene, from: string, direction: Direction): string | null {
  const here = scene.rect(from);
  if (!here) return null;
  let best: string | null = null;
  let least = Infinity;
  for (const [name, rect] of scene.rects()) {
    if (name === from) continue;
    const dx = rect.x + rect.width / 2 - (here.x + here.width / 2);
    const dy = rect.y + rect.height / 2 - (here.y + here.height / 2);
    const along = { left: -dx, right: dx, up: -dy, down: dy }[direction];
    const across = direction === "left" || direction === "right" ? Math.abs(dy) : Math.abs(dx);
    if (along < 8) continue;
    // Straight ahead beats near but sideways.
    const cost = along + across * 2;
    if (cost < least) {
      least = cost;
      best = name;
    }
  }
  return best;
}
