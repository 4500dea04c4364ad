/** New nodes: where they go, what they are called, what they are connected to. Each way of adding is one undo step. */
import {
  addConnectedNode,
  addFirstNode,
  addNode,
  addNodeIntoEdge,
  canConnect,
  connect,
  inTurn,
  moveNodes,
  setMaxVisits,
  uniqueName,
  type NewNode,
  type Point,
} from "../document/edits";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import type { GraphDocument } from "../document/document";
import type { Patch } from "../document/patch";
import { mergeGraph } from "../document/merge";
import { addPattern } from "../document/patterns";
import { ERROR_PORT, errorEdge } from "../document/error-ways";
import { connectWay, leavingBy, type Leaving } from "../document/ports";
import {
  END,
  isObject,
  nodeOf,
  NOTE,
  positionOf,
  START,
  type Json,
  type JsonObject,
} from "../document/types";
import { usualKeys } from "../document/usual-keys";
import { t } from "../lib/texts";
import { useCanvasSettings } from "../state/canvas-settings";
import { beginNode } from "../state/reduced-motion";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import {
  cardHeight,
  GRID,
  HEAD,
  intersects,
  LABEL_X,
  MAX_ROWS,
  NODE_WIDTH,
  PORT_Y,
  portOf,
  type Rect,
} from "./geometry";
import { showNode } from "./actions";
import { kindOf, knownKinds } from "./kinds";
import { withFolded } from "./notes";
import { scene } from "./scene";
import { setCanvas, type Search } from "./store";
import { endMove } from "./wiring";
import type { Line } from "./lines";

const snap = (value: number) => Math.round(value / GRID) * GRID;

/** A node is put where it could be dragged to. */
function onGrid(value: number): number {
  const step = Math.max(1, useCanvasSettings.getState().grid);
  return Math.round(value / step) * step;
}

/** A node of a kind, with its corner where that is on the canvas. */
function newNode(kind: string, place: Point, given: JsonObject = {}): NewNode {
  const at = scene.filed(place);
  const info = kindOf(kind);
  const defaults: unknown = info?.defaults;
  const name = uniqueName(doc, "node", kind || "node");
  beginNode(name);
  const begins: JsonObject = { ...(isObject(defaults) ? structuredClone(defaults) : {}), ...given };
  return {
    name,
    kind,
    ...usualKeys(doc, info?.configSchema ?? {}, begins),
    position: { x: onGrid(at.x), y: onGrid(at.y) },
  };
}

/** From the nodes to the border of a frame around them, and the height of its title. */
const FRAME_PAD = 24;
const FRAME_HEAD = 32;

/** Draws a frame around a part of the canvas; its name is its title. */
export function frameAround(around: Rect): void {
  const name = uniqueName(doc, "node", t("notes.frameName"));
  const from = scene.filed(around);
  const to = scene.filed({ x: around.x + around.width, y: around.y + around.height });
  const node: NewNode = {
    name,
    kind: NOTE,
    config: {
      text: "",
      frame: true,
      width: to.x - from.x + 2 * FRAME_PAD,
      height: to.y - from.y + 2 * FRAME_PAD + FRAME_HEAD,
    },
    position: { x: from.x - FRAME_PAD, y: from.y - FRAME_PAD - FRAME_HEAD },
  };
  if (!edit(t("notes.edit.frame"), (document) => addNode(document, node))) return;
  useSession.getState().select({ nodes: [name] });
  setCanvas({ renaming: name });
}

/** Selects a new node. The settings may be open already, and lie where it is: then nothing else brings it into view. */
function selectAdded(name: string): void {
  useSession.getState().select({ nodes: [name] });
  showNode(name);
}

function titleOf(kind: string): string {
  return kindOf(kind)?.title ?? kind;
}

/** Room that a new node keeps to the end. */
const ROOM = 24;
/** Where the end goes when a new node takes its place. */
const STEP_ASIDE = 80;

/**
 * The start and the end stay where they are seen, also when the file did not say where. An end that a new node at
 * `place` would lie on gives way to the right. `moved` are places that the same edit gives to others.
 */
function withEnds(
  document: GraphDocument,
  patch: Patch,
  place: Point,
  moved: ReadonlyMap<string, Point> = new Map(),
): Patch {
  const ends = [START, END].filter((end) => !document.has(`layout:${end}`) && !moved.has(end));
  const places = new Map(ends.map((end) => [end, scene.position(end)]));
  const rect = scene.standing(END);
  const end = rect && { ...rect, ...moved.get(END) };
  const taken = {
    x: place.x - ROOM,
    y: place.y - ROOM,
    width: NODE_WIDTH + 2 * ROOM,
    height: cardHeight({ rows: MAX_ROWS }) + 2 * ROOM,
  };
  if (end && intersects(end, taken))
    places.set(END, { x: snap(place.x + NODE_WIDTH + STEP_ASIDE), y: end.y });
  return inTurn(
    document,
    () => patch,
    (each) => moveNodes(each, places),
  );
}

/** The card's corner when the pointer is at the middle of its head. */
export function cornerAt(point: Point): Point {
  return { x: point.x - NODE_WIDTH / 2, y: point.y - HEAD / 2 };
}

/** A free place: right of the selected node, else near the middle of the view. */
export function freePlace(middle: Point): Point {
  const { nodes } = useSession.getState().selection;
  const only = nodes.length === 1 ? scene.rect(nodes[0] ?? "") : undefined;
  return clearPlace(
    only ? { x: only.x + only.width + GAP, y: only.y + Math.min(0, only.height - HEAD) } : cornerAt(middle),
  );
}

/** The least height that a new card is given room for. */
const CARD_ROOM = 104;

/** The first place from here down where a card lies on no other; the end gives way. */
function clearPlace(from: Point): Point {
  const size = { width: NODE_WIDTH, height: CARD_ROOM };
  return clearArea(from, size, (name) => name !== END);
}

/** The first place from here down where nothing of that size lies on a card. */
function clearArea(
  from: Point,
  { width, height }: Pick<Rect, "width" | "height">,
  counts: (name: string) => boolean = () => true,
): Point {
  let place = from;
  for (let tries = 0; tries < 200; tries += 1) {
    const around = { x: place.x - 8, y: place.y - 8, width: width + 16, height: height + 16 };
    const rects = scene
      .cardsIn(around)
      .filter(counts)
      .flatMap((name) => scene.rect(name) ?? []);
    if (rects.length === 0) break;
    place = { x: place.x, y: Math.max(...rects.map((rect) => rect.y + rect.height)) + 28 };
  }
  return place;
}

/** The place where what comes in several cards lies on none that is there: their corners as they stand to each other. */
export function clearForAll(from: Point, corners: readonly Point[]): Point {
  if (corners.length === 0) return from;
  const [left, top] = [Math.min(...corners.map(({ x }) => x)), Math.min(...corners.map(({ y }) => y))];
  const width = Math.max(...corners.map(({ x }) => x)) - left + NODE_WIDTH;
  const height = Math.max(...corners.map(({ y }) => y)) - top + cardHeight({ rows: MAX_ROWS });
  return clearArea(from, { width, height });
}

/** Adds a node with its corner at a place, or the next free one below it; into a line when one is given. Answers its name. */
export function placeNode(
  kind: string,
  place: Point,
  lineId: string | null = null,
  config?: JsonObject,
): string | null {
  const line = lineId === null || kind === NOTE ? undefined : scene.line(lineId);
  if (line) return placeBetween(kind, line, config);
  const node = newNode(kind, kind === NOTE ? place : clearPlace(place), config);
  const name = t("canvas.edit.add", { kind: titleOf(kind) });
  const done = edit(name, (document) =>
    withEnds(
      document,
      isFirst(document, kind) ? addFirstNode(document, node) : addNode(document, node),
      node.position,
    ),
  );
  if (!done) return null;
  setCanvas({ lines: [] });
  useSession.getState().select({ nodes: [node.name] });
  return node.name;
}

/**
 * Adds the nodes of a graph near the middle of the view; an empty graph becomes its like. A pattern shares the keys of
 * the same names; those of a block that mean something else here get new names.
 */
export function placeGraph(
  name: string,
  records: readonly { readonly id: string; readonly value: Json }[],
  middle: Point,
  as: "pattern" | "block",
): boolean {
  const corners = records
    .filter(({ id }) => id.startsWith("layout:") && id !== `layout:${START}` && id !== `layout:${END}`)
    .flatMap(({ value }) => positionOf(value) ?? []);
  const place = scene.filed(clearForAll(freePlace(middle), corners));
  const { patch, names } =
    as === "block" && doc.names("node").length > 0
      ? mergeGraph(doc, records, "beside", place, knownKinds())
      : addPattern(doc, records, place, scene.position(START), knownKinds());
  if (!edit(t("forms.edit.pattern", { name }), patch)) return false;
  setCanvas({ lines: [] });
  useSession.getState().select({ nodes: names });
  return true;
}

/** Is this the first node of a graph that nothing leads through yet? Notes do not count. */
function isFirst(document: GraphDocument, kind: string): boolean {
  return (
    kind !== NOTE &&
    document.names("edge").length === 0 &&
    document.names("node").every((name) => nodeOf(document.get(`node:${name}`)).kind === NOTE)
  );
}

/**
 * What the search picked: a new node, connected when a wire led there, or put into a line; `config` goes over the kind's
 * defaults.
 */
export function addFromSearch(search: Search, kind: string, config?: JsonObject): void {
  const { wire, place } = search;
  const line = search.line === undefined ? undefined : scene.line(search.line);
  if (line) {
    placeBetween(kind, line, config);
    return;
  }
  if (!wire) {
    placeNode(kind, cornerAt(place), null, config);
    return;
  }
  // A wire ends at the port, so the port is put where it was dropped.
  const corner =
    wire.side === "out"
      ? { x: place.x, y: place.y - PORT_Y }
      : { x: place.x - NODE_WIDTH, y: place.y - PORT_Y };
  const node = newNode(kind, corner, config);
  const { leaving } = wire;
  const added = (document: GraphDocument): Patch => {
    if (isFirst(document, kind)) return addFirstNode(document, node);
    if (wire.side === "in") return addConnectedNode(document, node, { to: wire.node });
    if (!leaving) return addConnectedNode(document, node, { from: wire.node });
    return inTurn(
      document,
      (each) => addNode(each, node),
      (each) => connectWay(each, wire.node, leaving, node.name),
    );
  };
  if (
    edit(t("canvas.edit.add", { kind: titleOf(kind) }), (document) =>
      withEnds(document, added(document), node.position),
    )
  ) {
    selectAdded(node.name);
  }
}

export function connectFromSearch(search: Search, node: string): void {
  const { wire, moving } = search;
  if (!wire) return;
  if (moving) return endMove(moving.lines, wire.side, node, null);
  const [from, to] = wire.side === "out" ? [wire.node, node] : [node, wire.node];
  const { leaving } = wire;
  if (leaving && wire.side === "out") connectBy(from, leaving, to);
  else connectNodes(from, to, search.screen);
}

/** Draws a wire from one way of a node. */
export function connectBy(from: string, leaving: Leaving, to: string): void {
  const name =
    leaving.way === "error"
      ? t("canvas.edit.errorWay")
      : leaving.way === "port"
        ? t("canvas.edit.way", {
            label: scene.ports(from).ports.find(({ id }) => id === leaving.id)?.title ?? "",
          })
        : t("canvas.edit.connect");
  edit(name, (document) => connectWay(document, from, leaving, to));
}

/** Connects two nodes; one that chooses is asked which way is meant, at a point of the screen. */
export function connectNodes(from: string, to: string, at: Point): void {
  if (!canConnect(from, to)) return;
  chooseWay(from, at, to, (leaving) => {
    if (leaving) connectBy(from, leaving, to);
    else edit(t("canvas.edit.connect"), (document) => connect(document, from, to));
  });
}

/** Asks which way of a node is meant; nothing is asked of a node without ways. */
export function chooseWay(
  node: string,
  at: Point,
  to: string | null,
  choose: (leaving: Leaving | undefined) => void,
): void {
  if (scene.ports(node).ports.length === 0) choose(undefined);
  else setCanvas({ choice: { node, at, to, choose } });
}

/** Between a node and one that is added after it. */
const GAP = 96;

/** What takes over on a failure stands under what goes on. */
const BELOW = 40;

/** What a click on a port does: the search for the node that comes next. */
export function addAfter(node: string, port: string | null, at: Point): void {
  const from = scene.rect(node);
  if (!from) return;
  const way = scene.ports(node).ports.find(({ id }) => id === port);
  const leaving = [...doc.edgesFrom(node), errorEdge(node)].flatMap((edge) => scene.linesOf(edge));
  const plain = leaving.filter((line) => line.form !== "error");
  // What leads somewhere already leads there through the new node; several wires of a plain port are branches.
  const through =
    port !== null
      ? leaving.find((line) => line.port === port)
      : plain.length === 1 && plain[0]?.form === "plain" && plain[0].to === END
        ? plain[0]
        : undefined;
  if (through) {
    addBetween(through, at);
    return;
  }
  const open = (leaving: Leaving | undefined) => {
    const point = scene.portPoint(node, port) ?? from;
    const down = port === ERROR_PORT ? BELOW : 0;
    const corner = clearPlace({ x: from.x + from.width + GAP, y: point.y - PORT_Y + down });
    const place = { x: corner.x, y: corner.y + PORT_Y };
    setCanvas({ search: { screen: at, place, wire: { node, side: "out", ...(leaving && { leaving }) } } });
  };
  if (way || port === ERROR_PORT) open(leavingBy(port ?? ""));
  else chooseWay(node, at, null, open);
}

/** Bounds how often a run may come to a node, as somebody typed it; what is no number says why nothing is changed. */
export function setBound(node: string, typed: string): void {
  const most = typed === "" ? undefined : Number(typed);
  if (most !== undefined && (!Number.isInteger(most) || most < 1)) {
    showToast({ tone: "problem", text: t("canvas.bound.wrong") });
    return;
  }
  edit(t("canvas.edit.bound", { name: node }), (document) => setMaxVisits(document, node, most));
}

/** Opens the search for a node that is put into a line. */
export function addBetween(line: Line, at: Point): void {
  setCanvas({
    hovered: null,
    search: { screen: at, place: scene.position(line.to), wire: null, line: line.id },
  });
}

/** The least room on each side of a node that is put into a line. */
const BESIDE = 64;

/** The corner of a card that is put into a line, and what stands behind the line where it gives way. */
export function roomBetween(line: Line): { corner: Point; moved: Map<string, Point> } | null {
  const from = scene.rect(line.from);
  const to = scene.rect(line.to);
  if (!from || !to) return null;
  const label = line.labelWidth === 0 ? 0 : line.labelWidth + LABEL_X;
  const left = from.x + from.width + label;
  const gap = to.x - left;
  const back = to.x < from.x + from.width;
  const missing = back ? 0 : Math.max(0, snap(NODE_WIDTH + 2 * BESIDE - gap));
  const moved = new Map<string, Point>();
  if (missing > 0)
    for (const [name, rect] of scene.rects())
      if (rect.x >= to.x && name !== line.from) {
        const { x, y } = scene.position(name);
        moved.set(name, { x: x + missing, y });
      }
  const middle = left + (gap + missing - NODE_WIDTH) / 2;
  const corner = back
    ? { x: (from.x + from.width + to.x - NODE_WIDTH) / 2, y: (line.lane ?? to.y + to.height + 48) - PORT_Y }
    : { x: middle, y: portOf(to, "in").y - PORT_Y };
  return { corner: missing > 0 ? corner : clearPlace(corner), moved };
}

/** Puts a new node into a line; what stands behind the line gives way. One undo step. Answers its name. */
function placeBetween(kind: string, line: Line, config?: JsonObject): string | null {
  const room = roomBetween(line);
  if (!room) return null;
  const { corner, moved } = room;
  const node = newNode(kind, corner, config);
  const done = edit(t("canvas.edit.add", { kind: titleOf(kind) }), (document) =>
    withEnds(
      document,
      inTurn(
        document,
        (each) => moveNodes(each, withFolded(scene, moved)),
        (each) => addNodeIntoEdge(each, node, line.edge, line.part),
      ),
      node.position,
      moved,
    ),
  );
  if (!done) return null;
  setCanvas({ lines: [] });
  selectAdded(node.name);
  return node.name;
}
