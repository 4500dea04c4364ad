/**
 * Arranges the graph in layers, left to right: with ELK in a worker, and a large one in the workbench. What they are given
 * is what is drawn: fixed card sizes, ports at fixed heights, room for the labels that fan out behind a node.
 */
import type { ELK, ElkNode } from "elkjs/lib/elk-api";
import type { Point } from "../document/edits";
import { allPorts } from "../document/ports";
import { END, START } from "../document/types";
import type { ArrangeGraph } from "../ipc/bindings/ArrangeGraph";
import { rpc } from "../ipc/client";
import { stopJob, withJob } from "../state/jobs";
import { turned, turnedBack } from "./arrange-down";
import { around } from "./arrange-around";
import { GRID, LABEL_HEIGHT, LABEL_X, PILL_HEIGHT, PORT_Y, type Rect, union } from "./geometry";
import type { Size } from "./viewport";
import type { Scene } from "./window";
import type { Line } from "./lines";
import { withFolded } from "./notes";
import { wrapped } from "./wrap";

export type Engine = Pick<ELK, "layout" | "terminateWorker">;

async function startEngine(): Promise<Engine> {
  const [{ default: Elk }, { default: workerUrl }] = await Promise.all([
    import("elkjs/lib/elk-api.js"),
    import("elkjs/lib/elk-worker.min.js?url"),
  ]);
  return new Elk({ workerUrl });
}

/** An engine that has finished its work. Starting one takes a moment, so it is kept. */
let idle: Engine | null = null;

/** Lays out in a worker of its own; an abort ends the worker. */
async function layout(
  graph: ElkNode,
  start: () => Promise<Engine>,
  signal: AbortSignal | undefined,
): Promise<ElkNode> {
  signal?.throwIfAborted();
  const engine = idle ?? (await start());
  idle = null;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason as Error);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    const done = await Promise.race([engine.layout(graph), aborted]);
    idle = engine;
    return done;
  } catch (thrown) {
    engine.terminateWorker();
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

interface Room {
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The room that labels need behind each node. */
function roomOf(scene: Scene, name: string): Room {
  let right = 0;
  let top = 0;
  let bottom = 0;
  for (const edge of scene.doc.edgesFrom(name)) {
    for (const line of scene.linesOf(edge)) {
      if (line.from !== name || line.label === null || line.port !== null) continue;
      right = Math.max(right, LABEL_X + line.labelWidth);
      top = Math.max(top, LABEL_HEIGHT - line.fan - PORT_Y + (line.caption === null ? 0 : 20));
      bottom = Math.max(bottom, line.fan + PORT_Y + LABEL_HEIGHT - (scene.standing(name)?.height ?? 0));
    }
  }
  return { right, top: Math.max(0, top), bottom: Math.max(0, bottom) };
}

/** Between two layers. */
const LAYER_GAP = 72;

/** A node as an engine places it: with the room of its labels, and its ports. */
interface Box {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Height of the port that every wire comes in at, and that plain ones leave. */
  readonly port: number;
  readonly ports: readonly { readonly id: string; readonly y: number }[];
}

export interface Task {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

/** What is to be placed: these nodes, and the lines between them. */
export function taskOf(scene: Scene, names: readonly string[]): Task {
  const chosen = new Set(names);
  const boxes = names.map((name) => {
    // As large as in the file: what is expanded here is not there.
    const { width = 0, height = 0 } = scene.standing(name) ?? {};
    const room = roomOf(scene, name);
    return {
      name,
      width: width + room.right,
      height: height + room.top + room.bottom,
      port: room.top + (height === PILL_HEIGHT ? PILL_HEIGHT / 2 : PORT_Y),
      ports: allPorts(scene.ports(name)).map(({ id }) => ({
        id,
        y: room.top + (scene.portPoint(name, id)?.y ?? 0) - (scene.rect(name)?.y ?? 0),
      })),
    };
  });
  const lines = [...scene.lines().values()].flatMap((line) => {
    const [from, to] = [scene.shown(line.from), scene.shown(line.to)];
    if (!chosen.has(from) || !chosen.has(to)) return [];
    return from === line.from && to === line.to ? line : { ...line, from, to };
  });
  return { boxes, lines };
}

/** What ELK gets. */
export function elkGraph({ boxes, lines }: Task): ElkNode {
  const children = boxes.map(({ name, width, height, port, ports }) => {
    const at = (id: string, x: number, y: number, side: "WEST" | "EAST") => ({
      id,
      x,
      y,
      width: 0,
      height: 0,
      layoutOptions: { "port.side": side },
    });
    return {
      id: name,
      width,
      height,
      ports: [
        at(`${name}|in`, 0, port, "WEST"),
        at(`${name}|out`, width, port, "EAST"),
        ...ports.map(({ id, y }) => at(`${name}|out|${id}`, width, y, "EAST")),
      ],
      layoutOptions: {
        portConstraints: "FIXED_POS",
        ...(name === START ? { "layered.layering.layerConstraint": "FIRST" } : {}),
        ...(name === END ? { "layered.layering.layerConstraint": "LAST" } : {}),
      },
    };
  });
  const edges = lines.map((line) => ({
    id: line.id,
    sources: [`${line.from}|out${line.port === null ? "" : `|${line.port}`}`],
    targets: [`${line.to}|in`],
  }));
  return {
    id: "root",
    layoutOptions: {
      algorithm: "layered",
      "elk.direction": "RIGHT",
      "elk.spacing.nodeNode": "36",
      "elk.layered.spacing.nodeNodeBetweenLayers": String(LAYER_GAP),
      "elk.spacing.componentComponent": "64",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
      "elk.layered.feedbackEdges": "true",
      "elk.layered.thoroughness": "7",
    },
    children,
    edges,
  };
}

/** What the workbench gets: the same by places in the lists. */
export function boxesAndLinks({ boxes, lines }: Task): Pick<ArrangeGraph, "boxes" | "links"> {
  const place = new Map(boxes.map(({ name }, index) => [name, index]));
  return {
    boxes: boxes.map(({ name, width, height, port }) => ({
      width,
      height,
      port,
      first: name === START,
      last: name === END,
    })),
    links: lines.map(({ from, to, port }) => {
      const box = boxes[place.get(from) ?? 0];
      return {
        from: place.get(from) ?? 0,
        to: place.get(to) ?? 0,
        port: box?.ports.find(({ id }) => id === port)?.y ?? box?.port ?? 0,
      };
    }),
  };
}

/** With more nodes than this the workbench arranges: ELK takes minutes for some of these graphs. */
const MOST_FOR_ELK = 300;

export interface Arranging {
  readonly signal?: AbortSignal;
  readonly start?: () => Promise<Engine>;
  /** These nodes only. */
  readonly names?: readonly string[];
  /** Nodes that stay where they are; the others are arranged around them. */
  readonly stays?: ReadonlyMap<string, Point>;
  /** From top to bottom, in the place of from left to right in rows. */
  readonly down?: boolean;
  /** Of the canvas. */
  readonly size?: Size;
  /** Is given the name of the workbench's work, for its progress. */
  readonly begun?: (work: string) => void;
}

/** Upper left corners of the boxes. */
async function placesOf(
  task: Task,
  { signal, start = startEngine, begun }: Arranging,
): Promise<Map<string, Point>> {
  if (task.boxes.length > MOST_FOR_ELK) {
    const { positions } = await withJob((work) => {
      signal?.addEventListener("abort", () => stopJob(work), { once: true });
      return rpc("graph.arrange", { ...boxesAndLinks(task), work }, signal);
    }, begun);
    return new Map(task.boxes.map(({ name }, index) => [name, toPoint(positions[index])]));
  }
  const graph = await layout(elkGraph(task), start, signal);
  return new Map((graph.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

const toPoint = (at: readonly [number, number] | undefined): Point => ({ x: at?.[0] ?? 0, y: at?.[1] ?? 0 });

/**
 * New positions for all nodes, or for some of them, or for those that do not stay; the start, or else the corner of them
 * all, stays where it is. All of them are broken into rows when a canvas of that size shows more of them so. Rejects when it
 * is aborted.
 */
export async function arrange(scene: Scene, how: Arranging = {}): Promise<Map<string, Point>> {
  const { names: all, size, down = false } = how;
  // A frame is where somebody drew it; the nodes are put in order without it. A folded one is a node among them.
  const names = (all ?? [...scene.rects().keys()]).filter(
    (name) => !scene.liesBehind(name) && scene.shown(name) === name,
  );
  // An end that no edge leads to stands behind everything else, not somewhere beside it.
  const loose = names.includes(END) && !scene.edgesOf(END).some((edge) => scene.linesOf(edge).length > 0);
  const task = taskOf(scene, loose ? names.filter((name) => name !== END) : names);
  const rects = new Map<string, Rect>();
  const boxes = down
    ? turnedBack(
        await placesOf(
          turned(task, (name) => scene.standing(name)?.width ?? 0),
          how,
        ),
      )
    : await placesOf(task, how);
  for (const [name, { x, y }] of boxes) {
    const { width = 0, height = 0 } = scene.standing(name) ?? {};
    const room = roomOf(scene, name);
    rects.set(name, { x, y: y + room.top, width: width + room.right, height });
  }
  if (loose) {
    const placed = union(rects.values());
    const { width = 0, height = 0 } = scene.standing(END) ?? {};
    const begin = rects.get(START) ?? placed ?? { x: 0, y: 0 };
    const behind = placed
      ? { x: placed.x + placed.width + LAYER_GAP, y: placed.y + placed.height + LAYER_GAP }
      : begin;
    rects.set(END, { x: down ? begin.x : behind.x, y: down ? behind.y : begin.y, width, height });
  }
  const raw = size === undefined || all !== undefined || down ? rects : wrapped(rects, task.lines, size);
  const places = anchored(scene, raw);
  const stays = new Map([...(how.stays ?? [])].filter(([name]) => raw.has(name)));
  if (stays.size === 0) return withFolded(scene, places);
  const ideal = [...rects].map(([name, rect]) => [name, { ...rect, ...places.get(name) }] as const);
  return withFolded(scene, around(new Map(ideal), stays, task.lines));
}

/** On the grid, the start where it is, or else the corner of them all. */
function anchored(scene: Scene, raw: ReadonlyMap<string, Point>): Map<string, Point> {
  const corner = (points: readonly Point[]): Point => ({
    x: points.reduce((least, { x }) => Math.min(least, x), Infinity),
    y: points.reduce((least, { y }) => Math.min(least, y), Infinity),
  });
  const begin = raw.get(START);
  const anchor = begin ?? corner([...raw.values()]);
  const stays = begin ? scene.position(START) : corner([...raw.keys()].map((name) => scene.position(name)));
  const snap = (value: number) => Math.round(value / GRID) * GRID;
  return new Map(
    [...raw].map(([name, point]) => [
      name,
      { x: snap(point.x - anchor.x + stays.x), y: snap(point.y - anchor.y + stays.y) },
    ]),
  );
}
