/**
 * Places of the labels that have no room behind their port, because a card stands there: on the line where it is free, else
 * close over or under it, else short on the line, else farther away. No label lies on a card, on the badges over it or on
 * another label.
 */
import RBush from "rbush";
import type { Point } from "../document/edits";
import { LABEL_HEIGHT, LABEL_X } from "./geometry";

interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** A label that is placed. */
export interface Beside {
  readonly id: string;
  readonly width: number;
  /** Middles it may have on its line, the best one first. */
  readonly on: readonly Point[];
  /** The middle of its line. */
  readonly middle: Point;
}

/** Between a label and what is next to it. */
const ROOM = 4;
/** Farther from its line a label could be that of another one. */
const NEAR = 72;
/** Farther away none is looked for. */
const FAR = 600;
/** No farther from its line is a label, with what it may not lie on. */
export const LABEL_REACH = FAR + LABEL_HEIGHT;
/** Widths of a label that finds no room for its words; they are read when it is pointed at or selected. */
const SHORT = [96, 64, 44, 28];
/**
 * How far badges stand over the top of a card. They are 16 high and end 8 below its top; in the middle drawing they grow
 * upwards, up to 1.8 times.
 */
export const BADGES = 21;
/** From a label in its place to the target of its line, whose arrow is seen. */
const ARROW = 16;

/** The box of a label, by its left end and middle height. */
export function labelBox(at: Point, width: number): Box {
  return { minX: at.x, minY: at.y - LABEL_HEIGHT / 2, maxX: at.x + width, maxY: at.y + LABEL_HEIGHT / 2 };
}

/** A label behind a port: how wide it is, at which height from the port, and where its line ends if that goes to the right. */
interface Slot {
  readonly width: number;
  readonly fan: number;
  readonly end: number;
}

/** Does a card stand where the labels behind a port would be, or the target of one of their lines? */
export function isCrowded(
  port: Point,
  labels: readonly Slot[],
  cards: (area: Box) => readonly unknown[],
): boolean {
  return labels.some(({ width, fan, end }) => {
    const box = labelBox({ x: port.x + LABEL_X, y: port.y + fan }, width);
    const maxX = box.maxX + ARROW;
    return maxX > end || cards({ ...box, maxX, maxY: box.maxY + BADGES }).length > 0;
  });
}

/** Where a label is: its left end and middle height, and its width there. */
export interface Place extends Point {
  readonly width: number;
  /** Over or under its line, not on it. */
  readonly apart: boolean;
}

/** Places of labels; `taken` are the boxes of those that have theirs. */
export function placesOf(
  labels: readonly Beside[],
  standing: (area: Box) => readonly Box[],
  taken: readonly Box[],
): Map<string, Place> {
  const cards = (area: Box) => standing({ ...area, maxY: area.maxY + BADGES }).map(withBadges);
  const others = new RBush<Box>().load([...taken]);
  const places = new Map<string, Place>();
  const boxAt = ({ x, y }: Point, width: number) => labelBox({ x: x - width / 2, y }, width);
  const put = ({ id, on }: Beside, width: number, among: readonly Point[]) => {
    if (among.length === 0) return false;
    // Asked once for all of them: a crowded graph has thousands of labels with dozens of places each.
    const boxes = among.map((each) => grown(boxAt(each, width), ROOM - 1));
    const all = around(boxes);
    const near = [...cards(all), ...others.search(all)];
    const centre = among[boxes.findIndex((box) => !near.some((each) => touch(each, box)))];
    if (centre === undefined) return false;
    const box = boxAt(centre, width);
    others.insert(box);
    places.set(id, { x: box.minX, y: centre.y, width, apart: among !== on });
    return true;
  };
  // Those that have room on their line keep it: a label beside another line takes none of it away.
  for (const label of labels.filter((each) => !put(each, each.width, each.on))) {
    const { id, width, on, middle } = label;
    if (put(label, width, outside(middle, width, NEAR, cards, others))) continue;
    if (SHORT.some((short) => short < width && put(label, short, on))) continue;
    if (put(label, width, outside(middle, width, FAR, cards, others))) continue;
    places.set(id, { x: middle.x - width / 2, y: middle.y, width, apart: false });
  }
  return places;
}

/** Middles over and under whatever is near the middle of a line, the nearest first. */
function outside(
  middle: Point,
  width: number,
  far: number,
  cards: (area: Box) => readonly Box[],
  others: RBush<Box>,
): Point[] {
  const { minX, maxX } = labelBox({ x: middle.x - width / 2, y: middle.y }, width);
  const column = { minX: minX - ROOM, maxX: maxX + ROOM, minY: middle.y - far, maxY: middle.y + far };
  const off = LABEL_HEIGHT / 2 + ROOM;
  return [...cards(column), ...others.search(column)]
    .flatMap((each) => [each.minY - off, each.maxY + off])
    .filter((y) => Math.abs(y - middle.y) <= far)
    .sort((a, b) => Math.abs(a - middle.y) - Math.abs(b - middle.y))
    .map((y) => ({ x: middle.x, y }));
}

/** The box of a card, with the badges over it. */
export function withBadges({ minX, minY, maxX, maxY }: Box): Box {
  return { minX, minY: minY - BADGES, maxX, maxY };
}

function around(boxes: readonly Box[]): Box {
  return {
    minX: Math.min(...boxes.map((box) => box.minX)),
    minY: Math.min(...boxes.map((box) => box.minY)),
    maxX: Math.max(...boxes.map((box) => box.maxX)),
    maxY: Math.max(...boxes.map((box) => box.maxY)),
  };
}

export function touch(a: Box, b: Box): boolean {
  return a.minX <= b.maxX && a.maxX >= b.minX && a.minY <= b.maxY && a.maxY >= b.minY;
}

export function grown({ minX, minY, maxX, maxY }: Box, by: number): Box {
  return { minX: minX - by, minY: minY - by, maxX: maxX + by, maxY: maxY + by };
}
