/** New nodes: where they go, what they are called, what they are connected to. Each way of adding is one undo step. */
import {
  addConnectedNode,
  addNode,
  addNodeIntoEdge,
  connect,
  moveNodes,
  uniqueName,
  type NewNode,
  type Point,
} from "../document/edits";
import { doc, edit } from "../document/store";
import type { GraphDocument } from "../document/document";
import type { Patch } from "../document/patch";
import { addPattern } from "../document/patterns";
import { END, isObject, START, type Json, type JsonObject } from "../document/types";
import { t } from "../lib/texts";
import { beginNode } from "../state/calm";
import { useSession } from "../state/session";
import { cardHeight, GRID, HEAD, intersects, MAX_ROWS, NODE_WIDTH, PORT_Y } from "./geometry";
import { kindOf, knownKinds } from "./kinds";
import { scene } from "./scene";
import { setCanvas, type Search } from "./store";

const snap = (value: number) => Math.round(value / GRID) * GRID;

function newNode(kind: string, place: Point, given: JsonObject = {}): NewNode {
  const info = kindOf(kind);
  const defaults: unknown = info?.defaults;
  const name = uniqueName(doc, "node", kind || "node");
  beginNode(name);
  const config: JsonObject = { ...(isObject(defaults) ? structuredClone(defaults) : {}), ...given };
  return {
    name,
    kind,
    config,
    position: { x: snap(place.x), y: snap(place.y) },
  };
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
 * `place` would lie on gives way to the right.
 */
function withEnds(document: GraphDocument, patch: Patch, place: Point): Patch {
  const ends = [START, END].filter((end) => !document.has(`layout:${end}`));
  const places = new Map(ends.map((end) => [end, scene.position(end)]));
  const end = scene.rect(END);
  const taken = {
    x: place.x - ROOM,
    y: place.y - ROOM,
    width: NODE_WIDTH + 2 * ROOM,
    height: cardHeight(MAX_ROWS) + 2 * ROOM,
  };
  if (end && intersects(end, taken))
    places.set(END, { x: snap(place.x + NODE_WIDTH + STEP_ASIDE), y: end.y });
  return { ops: [...patch.ops, ...moveNodes(document, places).ops] };
}

/** The card's corner when the pointer is at the middle of its head. */
export function cornerAt(point: Point): Point {
  return { x: point.x - NODE_WIDTH / 2, y: point.y - HEAD / 2 };
}

/** A free place: right of the selected node, else near the middle of the view. */
export function freePlace(middle: Point): Point {
  const { nodes } = useSession.getState().selection;
  const only = nodes.length === 1 ? scene.rect(nodes[0] ?? "") : undefined;
  let place = only
    ? { x: only.x + only.width + 96, y: only.y + Math.min(0, only.height - HEAD) }
    : cornerAt(middle);
  for (let tries = 0; tries < 40; tries += 1) {
    const around = { x: place.x - 8, y: place.y - 8, width: NODE_WIDTH + 16, height: 120 };
    const hit = scene.nodesIn(around)[0];
    const rect = hit === undefined ? undefined : scene.rect(hit);
    if (!rect) break;
    place = { x: place.x, y: rect.y + rect.height + 28 };
  }
  return place;
}

/** Adds a node with its corner at a place; into a line when one is given. Answers its name. */
export function placeNode(
  kind: string,
  place: Point,
  lineId: string | null = null,
  config?: JsonObject,
): string | null {
  const node = newNode(kind, place, config);
  const line = lineId === null ? undefined : scene.line(lineId);
  const name = t("canvas.edit.add", { kind: titleOf(kind) });
  const done = edit(name, (document) =>
    withEnds(
      document,
      line ? addNodeIntoEdge(document, node, line.edge, line.part) : addNode(document, node),
      node.position,
    ),
  );
  if (!done) return null;
  setCanvas({ lines: [] });
  useSession.getState().select({ nodes: [node.name] });
  return node.name;
}

/** Adds the nodes of a graph near the middle of the view; an empty graph becomes its like. */
export function placeGraph(
  name: string,
  records: readonly { readonly id: string; readonly value: Json }[],
  middle: Point,
): boolean {
  const place = freePlace(middle);
  const { patch, names } = addPattern(doc, records, place, scene.position(START), knownKinds());
  if (!edit(t("forms.edit.pattern", { name }), patch)) return false;
  setCanvas({ lines: [] });
  useSession.getState().select({ nodes: names });
  return true;
}

/** What the search picked: a new node, connected when a wire led there; `config` goes over the kind's defaults. */
export function addFromSearch(search: Search, kind: string, config?: JsonObject): void {
  const { wire, place } = search;
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
  const ends = wire.side === "out" ? { from: wire.node } : { to: wire.node };
  if (
    edit(t("canvas.edit.add", { kind: titleOf(kind) }), (document) =>
      withEnds(document, addConnectedNode(document, node, ends), corner),
    )
  ) {
    useSession.getState().select({ nodes: [node.name] });
  }
}

export function connectFromSearch(search: Search, node: string): void {
  const { wire } = search;
  if (!wire) return;
  const [from, to] = wire.side === "out" ? [wire.node, node] : [node, wire.node];
  edit(t("canvas.edit.connect"), (document) => connect(document, from, to));
}
