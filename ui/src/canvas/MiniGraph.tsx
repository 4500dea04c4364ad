/** A small picture of a graph, drawn from its records. It shows the shape, not the words. */
import { useMemo } from "react";
import { edgeOf, END, nodeOf, positionOf, START, type Json } from "../document/types";
import type { Record } from "../ipc/bindings/Record";

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  kind: string;
}

const NODE = { width: 216, height: 84 };
const PILL = { width: 72, height: 28 };

/** Boxes and lines of a graph's picture. Nodes without a place are put in a row under the others. */
function pictureOf(records: readonly Record[]): {
  boxes: Map<string, Box>;
  lines: string[];
  view: string;
} {
  const values = new Map(records.map((record) => [record.id, record.value as Json]));
  const boxes = new Map<string, Box>();
  const nodes = [...values.keys()]
    .filter((id) => id.startsWith("node:"))
    .map((id) => id.slice("node:".length));
  const used = new Set<string>();
  const edges = [...values].filter(([id]) => id.startsWith("edge:")).map(([, value]) => edgeOf(value));
  for (const edge of edges) for (const end of [...edge.sources, ...edge.targets]) used.add(end);

  const places = new Map(nodes.map((name) => [name, positionOf(values.get(`layout:${name}`))]));
  const known = [...places.values()].filter((place) => place !== null);
  const bottom = known.length === 0 ? 0 : Math.max(...known.map((place) => place.y)) + 140;
  let unplaced = 0;
  for (const name of nodes) {
    const place = places.get(name) ?? { x: unplaced++ * 280, y: bottom };
    boxes.set(name, { ...place, ...NODE, kind: nodeOf(values.get(`node:${name}`)).kind });
  }
  const all = [...boxes.values()];
  const left = Math.min(0, ...all.map((box) => box.x));
  const right = Math.max(NODE.width, ...all.map((box) => box.x + box.width));
  const top = all.length === 0 ? 0 : Math.min(...all.map((box) => box.y));
  for (const [name, x] of [
    [START, left - 140],
    [END, right + 70],
  ] as const) {
    if (!used.has(name)) continue;
    const place = positionOf(values.get(`layout:${name}`)) ?? { x, y: top + 28 };
    boxes.set(name, { ...place, ...PILL, kind: name });
  }

  const lines: string[] = [];
  for (const edge of edges) {
    for (const path of edge.paths) {
      const from = boxes.get(path.from);
      const to = boxes.get(path.to);
      if (from && to) lines.push(line(from, to));
    }
  }
  const each = [...boxes.values()];
  if (each.length === 0) return { boxes, lines, view: "0 0 100 60" };
  const loops = edges.some((edge) =>
    edge.paths.some((path) => (boxes.get(path.to)?.x ?? 0) <= (boxes.get(path.from)?.x ?? 0)),
  );
  const box = {
    left: Math.min(...each.map((one) => one.x)) - 16,
    top: Math.min(...each.map((one) => one.y)) - 16,
    right: Math.max(...each.map((one) => one.x + one.width)) + 16,
    bottom: Math.max(...each.map((one) => one.y + one.height)) + (loops ? 56 : 16),
  };
  return { boxes, lines, view: `${box.left} ${box.top} ${box.right - box.left} ${box.bottom - box.top}` };
}

function line(from: Box, to: Box): string {
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const x2 = to.x;
  const y2 = to.y + to.height / 2;
  if (x2 > x1 - 20) {
    const bend = Math.max(40, (x2 - x1) / 2);
    return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  // A loop goes round below.
  const low = Math.max(from.y + from.height, to.y + to.height) + 60;
  return `M${x1},${y1} C${x1 + 90},${y1} ${x1 + 90},${low} ${(x1 + x2) / 2},${low} C${x2 - 90},${low} ${x2 - 90},${y2} ${x2},${y2}`;
}

export function MiniGraph({ records }: { records: readonly Record[] }) {
  const { boxes, lines, view } = useMemo(() => pictureOf(records), [records]);
  return (
    <svg
      className="block size-full"
      viewBox={view}
      preserveAspectRatio="xMidYMid meet"
      aria-hidden
      focusable="false"
    >
      {lines.map((path, index) => (
        <path
          key={index}
          d={path}
          className="fill-none stroke-edge stroke-[1.5px] [vector-effect:non-scaling-stroke]"
        />
      ))}
      {[...boxes].map(([name, box]) =>
        name === START || name === END ? (
          <rect
            key={name}
            className="fill-edge"
            x={box.x}
            y={box.y}
            width={box.width}
            height={box.height}
            rx={box.height / 2}
          />
        ) : (
          <g
            key={name}
            className="[&>rect:first-child]:fill-surface-2 [&>rect:first-child]:stroke-line-strong [&>rect:first-child]:stroke-[1px] [&>rect:first-child]:[vector-effect:non-scaling-stroke]"
            data-kind={box.kind}
          >
            <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={14} />
            <rect
              className="fill-text-3 in-data-[kind=model]:fill-paused in-data-[kind=ask]:fill-asking in-data-[kind=code]:fill-running in-data-[kind=retrieve]:fill-done"
              x={box.x + 16}
              y={box.y + 18}
              width={24}
              height={24}
              rx={6}
            />
            <rect
              className="fill-surface-4"
              x={box.x + 52}
              y={box.y + 24}
              width={box.width * 0.5}
              height={12}
              rx={6}
            />
            <rect
              className="fill-surface-4"
              x={box.x + 16}
              y={box.y + 56}
              width={box.width * 0.75}
              height={10}
              rx={5}
            />
          </g>
        ),
      )}
    </svg>
  );
}
