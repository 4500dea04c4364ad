/** Notes on the canvas: their colours and sizes, and frames, which lie behind the nodes and move what lies in them. */
import type { GraphDocument } from "../document/document";
import { inTurn, setField, type Point } from "../document/edits";
import type { Patch } from "../document/patch";
import { nodeOf, NOTE, type Json } from "../document/types";
import { GRID, HEAD, NODE_WIDTH, type Rect } from "./geometry";

/** The colours by their names in the file. */
export const NOTE_COLOURS = ["yellow", "green", "blue", "purple", "red", "gray"] as const;
export type NoteColour = (typeof NOTE_COLOURS)[number];

export interface Note {
  readonly text: string;
  readonly colour: NoteColour;
  readonly frame: boolean;
  /** As the file has it; null where the text decides. */
  readonly width: number | null;
  readonly height: number | null;
}

export const LEAST_WIDTH = 120;
const MOST = 20_000;
const FRAME = { width: 480, height: 280 };

/** What a note says and how it looks; null for a node that runs. A broken file may hold anything. */
export function noteOf(record: Json | undefined): Note | null {
  const { kind, config } = nodeOf(record);
  if (kind !== NOTE) return null;
  const length = (value: Json | undefined, least: number) =>
    typeof value === "number" && Number.isFinite(value)
      ? Math.min(MOST, Math.max(least, Math.round(value)))
      : null;
  const { text, color, frame } = config;
  return {
    text: typeof text === "string" ? text : "",
    colour: NOTE_COLOURS.find((each) => each === color) ?? "yellow",
    frame: frame === true,
    width: length(config["width"], LEAST_WIDTH),
    height: length(config["height"], HEAD),
  };
}

/** A line of a note's text, what a blank one takes, and about how wide a letter is. */
const LINE = 18;
const BLANK = 8;
const LETTER = 5.6;
const PAD = 20;
/** A note whose text decides grows up to here; its corner makes it larger. */
const TALLEST = 320;

/** About the height of a text, heads and lists as they are read. */
function textHeight(text: string, width: number): number {
  if (text.trim() === "") return 0;
  const most = Math.max(1, Math.floor((width - PAD) / LETTER));
  const lines = text.trim().split("\n");
  const height = lines.reduce(
    (sum, line) => sum + (line.trim() === "" ? BLANK : Math.ceil(line.length / most) * LINE),
    PAD / 2,
  );
  return Math.min(TALLEST - HEAD, height);
}

/** The size of a note, beside the height that its rows need. */
export function noteSize(note: Note, rows: number): { width: number; height: number } {
  const width = note.width ?? (note.frame ? FRAME.width : NODE_WIDTH);
  const needed = Math.ceil((HEAD + textHeight(note.text, width)) / GRID) * GRID;
  return { width, height: note.height ?? (note.frame ? FRAME.height : Math.max(rows, needed)) };
}

/** A note's text without the marks of Markdown, for pictures. */
export function plainText(text: string): string {
  return text
    .replace(/^ {0,3}#{1,6}\s+/gm, "")
    .replace(/^(\s*)[-*+]\s+/gm, "$1• ")
    .replace(/\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`)([^\n]*?)\1/g, "$2");
}

export function resizeNote(doc: GraphDocument, name: string, size: { width: number; height: number }): Patch {
  const fits = (value: number, least: number) =>
    Math.min(MOST, Math.max(least, Math.round(value / GRID) * GRID));
  return inTurn(
    doc,
    (each) => setField(each, `node:${name}`, "/config/width", fits(size.width, LEAST_WIDTH)),
    (each) => setField(each, `node:${name}`, "/config/height", fits(size.height, HEAD)),
  );
}

interface Placed {
  readonly doc: GraphDocument;
  rect(name: string): Rect | undefined;
  nodesIn(area: Rect): string[];
  heldBy(frame: string): readonly string[];
}

export function isFrame(doc: GraphDocument, name: string): boolean {
  return noteOf(doc.get(`node:${name}`))?.frame === true;
}

/** These nodes, and those that lie wholly in a frame among them, or in one that is folded. */
export function withHeld(scene: Placed, names: Iterable<string>): Set<string> {
  const all = new Set(names);
  for (const name of all) {
    const held = scene.heldBy(name);
    for (const other of held) all.add(other);
    if (held.length > 0) continue;
    const frame = isFrame(scene.doc, name) ? scene.rect(name) : undefined;
    if (!frame) continue;
    for (const other of scene.nodesIn(frame)) {
      const rect = scene.rect(other);
      if (rect && contains(frame, rect)) all.add(other);
    }
  }
  return all;
}

/** New places of nodes, and of those that are in folded frames among them: they stand to their frame as before. */
export function withFolded(
  scene: { heldBy(frame: string): readonly string[]; position(name: string): Point },
  places: ReadonlyMap<string, Point>,
): Map<string, Point> {
  const all = new Map(places);
  for (const [frame, place] of places) {
    const from = scene.position(frame);
    for (const name of scene.heldBy(frame)) {
      const { x, y } = scene.position(name);
      if (!places.has(name)) all.set(name, { x: x + place.x - from.x, y: y + place.y - from.y });
    }
  }
  return all;
}

function contains(outer: Rect, inner: Rect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}
