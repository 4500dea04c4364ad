/**
 * Arranges the graph with ELK's layered algorithm in a worker, left to right. What ELK is told is what is drawn: fixed
 * card sizes, ports at fixed heights, room for the labels that fan out behind a node.
 */
import type { ELK, ElkNode } from "elkjs/lib/elk-api";
import type { Point } from "../document/edits";
import { allPorts } from "../document/ports";
import { END, START } from "../document/types";
import { GRID, LABEL_HEIGHT, LABEL_X, PILL_HEIGHT, PORT_Y } from "./geometry";
import { isFrame } from "./notes";
import type { Scene } from "./window";

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
      bottom = Math.max(bottom, line.fan + PORT_Y + LABEL_HEIGHT - (scene.rect(name)?.height ?? 0));
    }
  }
  return { right, top: Math.max(0, top), bottom: Math.max(0, bottom) };
}

/** What ELK gets: these nodes, and the lines between them. */
function elkGraph(scene: Scene, names: readonly string[]): ElkNode {
  const chosen = new Set(names);
  const children = names.map((name) => {
    const rect = scene.rect(name);
    const room = roomOf(scene, name);
    const height = rect?.height ?? 0;
    const port = room.top + (height === PILL_HEIGHT ? PILL_HEIGHT / 2 : PORT_Y);
    const width = (rect?.width ?? 0) + room.right;
    return {
      id: name,
      width,
      height: height + room.top + room.bottom,
      ports: [
        { id: `${name}|in`, x: 0, y: port, width: 0, height: 0, layoutOptions: { "port.side": "WEST" } },
        { id: `${name}|out`, x: width, y: port, width: 0, height: 0, layoutOptions: { "port.side": "EAST" } },
        ...allPorts(scene.ports(name)).map(({ id }) => ({
          id: `${name}|out|${id}`,
          x: width,
          y: room.top + (scene.portPoint(name, id)?.y ?? 0) - (rect?.y ?? 0),
          width: 0,
          height: 0,
          layoutOptions: { "port.side": "EAST" },
        })),
      ],
      layoutOptions: {
        portConstraints: "FIXED_POS",
        ...(name === START ? { "layered.layering.layerConstraint": "FIRST" } : {}),
        ...(name === END ? { "layered.layering.layerConstraint": "LAST" } : {}),
      },
    };
  });
  const lines = [...scene.lines().values()].filter((line) => chosen.has(line.from) && chosen.has(line.to));
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
      "elk.layered.spacing.nodeNodeBetweenLayers": "72",
      "elk.spacing.componentComponent": "64",
      "elk.layered.nodePlacement.strategy": names.length > 1500 ? "BRANDES_KOEPF" : "NETWORK_SIMPLEX",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST",
      "elk.layered.feedbackEdges": "true",
      "elk.layered.thoroughness": names.length > 400 ? "2" : "7",
    },
    children,
    edges,
  };
}

/**
 * New positions for all nodes, or for some of them; the start, or else the corner of them all, stays where it is. Rejects
 * when it is aborted.
 */
export async function arrange(
  scene: Scene,
  signal?: AbortSignal,
  start: () => Promise<Engine> = startEngine,
  all: readonly string[] = [...scene.rects().keys()],
): Promise<Map<string, Point>> {
  // A frame is where somebody drew it; the nodes are put in order without it.
  const names = all.filter((name) => !isFrame(scene.doc, name));
  const graph = await layout(elkGraph(scene, names), start, signal);
  const raw = new Map<string, Point>();
  for (const child of graph.children ?? []) {
    raw.set(child.id, { x: child.x ?? 0, y: (child.y ?? 0) + roomOf(scene, child.id).top });
  }
  const corner = (points: readonly Point[]): Point => ({
    x: Math.min(...points.map(({ x }) => x)),
    y: Math.min(...points.map(({ y }) => y)),
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
