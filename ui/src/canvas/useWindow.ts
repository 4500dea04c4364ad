/** Feeds React Flow the few nodes and lines that are near the view, with identities kept so that nothing re-renders for nothing. */
import { Position, type Node } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useTakenEdges } from "../debugger/overlay/overlay";
import { ERROR_PORT } from "../document/error-ways";
import type { Jump } from "../document/node-references";
import { END, START } from "../document/types";
import { useSession } from "../state/session";
import type { JumpEdge } from "./GraphJump";
import type { LineEdge } from "./GraphLine";
import { allPorts, type Ports } from "../document/ports";
import { jumpLane, PORT_Y, PILL_HEIGHT, type Rect } from "./geometry";
import { noteOf } from "./notes";
import { scene } from "./scene";
import { seenJumps } from "./jumps";
import { isOutOfSight } from "./folds";
import { useHidden } from "./hidden-wires";
import { mergedLines } from "./merged-lines";
import { lineSelected } from "./line-selection";
import { inOrderOf, NO_SHARE, putOff, SHARE } from "./mounting";
import { useCanvas } from "./store";
import type { WindowArea } from "./viewport";
import { nameOfLine, type Line } from "./lines";
import { t } from "../lib/texts";

const PORT = 10;
/** Lower than what selecting adds. */
const FRAME_Z = -2000;
/** More lines than this in one view cannot be distinguished; what is mounted stays bounded. */
const MAX_LINES = 1500;
/** Selected nodes stay mounted while they are out of view, up to this many. */
const MAX_PINNED = 60;

function useSceneVersion(): number {
  return useSyncExternalStore(
    (listener) => scene.subscribe(listener),
    () => scene.version,
  );
}

function handlesOf(name: string, rect: Rect, ports: Ports): NonNullable<Node["handles"]> {
  const y = (rect.height === PILL_HEIGHT ? PILL_HEIGHT / 2 : PORT_Y) - PORT / 2;
  const handles: NonNullable<Node["handles"]> = [];
  if (name !== START) {
    handles.push({ type: "target", position: Position.Left, x: -PORT / 2, y, width: PORT, height: PORT });
  }
  if (name !== END) {
    handles.push({
      type: "source",
      position: Position.Right,
      x: rect.width - PORT / 2,
      y,
      width: PORT,
      height: PORT,
    });
  }
  // A failure can be led on from every card, whether it is led anywhere yet or not.
  const failing = name !== START && name !== END && ports.error === null;
  for (const id of [...allPorts(ports).map((port) => port.id), ...(failing ? [ERROR_PORT] : [])]) {
    const point = scene.portPoint(name, id);
    if (!point) continue;
    const below = failing && id === ERROR_PORT;
    handles.push({
      id,
      type: "source",
      position: below ? Position.Bottom : Position.Right,
      x: point.x - rect.x - PORT / 2,
      y: point.y - rect.y - PORT / 2,
      width: PORT,
      height: PORT,
    });
  }
  return handles;
}

/** Ways that only runs have shown; the same list while it is the same ways. */
function useSeenJumps(version: number): readonly Jump[] {
  const taken = useTakenEdges();
  const kept = useRef<readonly Jump[]>([]);
  return useMemo(() => {
    void version;
    void taken;
    const next = seenJumps(scene);
    const ids = (jumps: readonly Jump[]) => jumps.map(({ id }) => id).join("\n");
    if (ids(next) !== ids(kept.current)) kept.current = next;
    return kept.current;
  }, [version, taken]);
}

/** How a node is drawn. */
type Drawn = "card" | "expanded" | "pill" | "note" | "frame";
export type CanvasNode = Node<{ readonly drawn: Drawn }, "node">;

export type CanvasEdge = LineEdge | JumpEdge;

/** The line of an edge of the document; a jump is none. */
export function lineOf(edge: CanvasEdge): Line | undefined {
  return edge.type === "line" ? (edge as LineEdge).data?.line : undefined;
}

const sameLines = (a: readonly Line[], b: readonly Line[]): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);

interface Mounted {
  readonly nodes: CanvasNode[];
  readonly edges: CanvasEdge[];
  /** Is something that is near the view yet to be mounted? */
  readonly more: boolean;
  /** Is some of that in the view? */
  readonly missing: boolean;
}

/** React Flow says these in English. */
const roleOf = (thing: "node" | "edge") => ({ "aria-roledescription": t(`canvas.role.${thing}`) });

const NOTHING: Mounted = { nodes: [], edges: [], more: false, missing: false };

export function useWindow(area: WindowArea | null, overview: boolean): Mounted {
  const version = useSceneVersion();
  const selection = useSession((state) => state.selection);
  const moving = useCanvas((state) => state.moving);
  const selectedLines = useCanvas((state) => state.lines);
  const hidden = useHidden();
  const seen = useSeenJumps(version);
  const nodeCache = useRef(new Map<string, { rect: Rect; ports: Ports; node: CanvasNode }>());
  const jumpCache = useRef(new Map<string, JumpEdge>());
  const lineCache = useRef(new Map<string, LineEdge>());

  const mountedAt = useRef<CSSNumberish | null>(null);
  const [round, setRound] = useState(0);

  const mounted = useMemo((): Mounted => {
    void version;
    void round;
    if (!area || overview) {
      nodeCache.current = new Map();
      return NOTHING;
    }
    const chosen = new Set(selection.nodes);
    const near = new Set(scene.nodesIn(area));
    for (const name of moving.keys()) near.add(name);
    if (selection.nodes.length <= MAX_PINNED)
      for (const name of selection.nodes) if (scene.rect(name)) near.add(name);

    // What is near changes several times within a frame; new nodes are mounted once in it.
    const frame = document.timeline.currentTime;
    const { later, missing, fresh } = putOff(
      near,
      area,
      frame !== null && frame === mountedAt.current ? NO_SHARE : SHARE,
      (name) => scene.rect(name),
      (name) => nodeCache.current.get(name)?.node.hidden === false,
    );

    let lines: Line[] = scene.linesIn(area);
    if (moving.size > 0) {
      const seen = new Set(lines.map((line) => line.id));
      for (const name of moving.keys()) {
        for (const edge of scene.edgesOf(name)) {
          for (const line of scene.linesOf(edge)) if (!seen.has(line.id)) lines.push(line);
        }
      }
      lines = [...new Map(lines.map((line) => [line.id, line])).values()];
    }
    const isLater = (line: Line) => later.has(scene.shown(line.from)) || later.has(scene.shown(line.to));
    lines = lines.filter(
      (line) => (later.size === 0 || !isLater(line)) && !isOutOfSight(line, hidden, selection),
    );
    if (lines.length > MAX_LINES) {
      // Lines with an end in view say more than those that only pass through.
      const ends = (line: Line) => Number(near.has(line.from)) + Number(near.has(line.to));
      lines = lines.sort((a, b) => ends(b) - ends(a)).slice(0, MAX_LINES);
    }

    const nextNodes = new Map<string, { rect: Rect; ports: Ports; node: CanvasNode }>();
    // Lines need both of their nodes; one that is out of view is known to React Flow and not in the page.
    const mount = (node: string, away: boolean) => {
      const name = scene.shown(node);
      const rect = scene.rect(name);
      if (!rect || nextNodes.has(name)) return;
      const position = moving.get(name) ?? { x: rect.x, y: rect.y };
      const note = noteOf(scene.doc.get(`node:${name}`));
      const frame = scene.liesBehind(name);
      const drawn: Drawn =
        name === START || name === END
          ? "pill"
          : note
            ? frame
              ? "frame"
              : "note"
            : scene.expandedSize(name)
              ? "expanded"
              : "card";
      const selected = chosen.has(name);
      const ports = scene.ports(name);
      const old = nodeCache.current.get(name);
      const same =
        old &&
        old.rect === rect &&
        old.ports === ports &&
        old.node.data.drawn === drawn &&
        old.node.hidden === away &&
        old.node.selected === selected &&
        old.node.position.x === position.x &&
        old.node.position.y === position.y;
      const entry = same
        ? old
        : {
            rect,
            ports,
            node: {
              id: name,
              // Of one type: React Flow measures a node whose type has changed, each by itself and in the middle of a frame.
              type: "node",
              domAttributes: roleOf("node"),
              position,
              data: { drawn },
              hidden: away,
              width: rect.width,
              height: rect.height,
              // Said as measured too, so that React Flow does not measure it again.
              measured: { width: rect.width, height: rect.height },
              handles: handlesOf(name, rect, ports),
              selected,
              // Behind the lines, and let through to the canvas but by its title: what lies in it can be reached.
              ...(frame && { zIndex: FRAME_Z, dragHandle: ".note-grip", style: { pointerEvents: "none" } }),
              selectable: !away && !frame,
              draggable: !away,
            } satisfies CanvasNode,
          };
      nextNodes.set(name, entry);
    };
    for (const name of near) mount(name, false);

    const nextLines = new Map<string, LineEdge>();
    for (const { line, merged } of mergedLines(lines, (name) => scene.shown(name))) {
      mount(line.from, true);
      mount(line.to, true);
      const selected = lineSelected(line, selection.edges, selectedLines);
      const isMoving = moving.has(line.from) || moving.has(line.to);
      const old = lineCache.current.get(line.id);
      const ends = { source: scene.shown(line.from), target: scene.shown(line.to) };
      const same =
        old?.data?.line === line &&
        old.selected === selected &&
        old.data.moving === isMoving &&
        sameLines(old.data.merged, merged);
      const edge: LineEdge = same
        ? old
        : {
            id: line.id,
            type: "line",
            ariaLabel: nameOfLine(line),
            domAttributes: roleOf("edge"),
            ...ends,
            sourceHandle: line.port,
            selected,
            // An end at a folded frame is led elsewhere once the frame is unfolded.
            reconnectable: ends.source === line.from && ends.target === line.to,
            data: { line, moving: isMoving, merged },
          };
      nextLines.set(line.id, edge);
    }
    const nextJumps = new Map<string, JumpEdge>();
    for (const jump of [...scene.jumps(), ...seen]) {
      const [from, to] = [scene.rect(jump.from), scene.rect(jump.to)];
      if (isOutOfSight(jump, hidden, selection)) continue;
      const ends = { source: scene.shown(jump.from), target: scene.shown(jump.to) };
      if (!from || !to || (!near.has(ends.source) && !near.has(ends.target))) continue;
      if (ends.source === ends.target && jump.from !== jump.to) continue;
      mount(jump.from, true);
      mount(jump.to, true);
      const at = (name: string, rect: Rect) => ({ ...rect, ...moving.get(name) });
      const lane = jumpLane(at(jump.from, from), at(jump.to, to));
      const old = jumpCache.current.get(jump.id);
      const edge: JumpEdge =
        old?.data?.jump === jump &&
        old.data.lane === lane.y &&
        old.source === ends.source &&
        old.target === ends.target
          ? old
          : {
              id: jump.id,
              type: "jump",
              ariaLabel: nameOfLine({ from: jump.from, to: jump.to }),
              domAttributes: roleOf("edge"),
              ...ends,
              selectable: false,
              focusable: false,
              reconnectable: false,
              data: { jump, lane: lane.y, inset: lane.inset },
            };
      nextJumps.set(jump.id, edge);
    }
    if (fresh > 0) mountedAt.current = frame;
    nodeCache.current = inOrderOf(nodeCache.current, nextNodes);
    lineCache.current = inOrderOf(lineCache.current, nextLines);
    jumpCache.current = inOrderOf(jumpCache.current, nextJumps);
    return {
      nodes: [...nodeCache.current.values()].map(({ node }) => node),
      edges: [...lineCache.current.values(), ...jumpCache.current.values()],
      more: later.size > 0,
      missing,
    };
  }, [version, area, overview, selection, moving, selectedLines, seen, hidden, round]);

  useEffect(() => {
    if (!mounted.more) return;
    const frame = requestAnimationFrame(() => setRound((before) => before + 1));
    return () => cancelAnimationFrame(frame);
  }, [mounted]);
  return mounted;
}
