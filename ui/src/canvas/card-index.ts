/**
 * Where the cards are: the rectangle of every node, from its place in the document and from what stands on its card, and
 * an R-tree of them.
 */
import RBush from "rbush";
import type { GraphDocument } from "../document/document";
import type { Point } from "../document/edits";
import { ERROR_PORT } from "../document/error-ways";
import { same } from "../document/patch";
import { allPorts, type Ports, portsOf } from "../document/ports";
import { END, nodeOf, positionOf, START } from "../document/types";
import {
  type CardBody,
  type CardRow,
  cardHeight,
  cardRows,
  NODE_WIDTH,
  PILL_HEIGHT,
  PILL_WIDTH,
  HEAD,
  portOf,
  portRowY,
  type Rect,
} from "./geometry";
import { type Box, boxOf } from "./line-boxes";
import { isFrame, noteOf, noteSize } from "./notes";
import { placeMissing } from "./placement";
import { Spread, type CardSize } from "./spread";

interface CardItem extends Box {
  readonly name: string;
  readonly rect: Rect;
  /** It is a frame behind the cards. */
  readonly behind: boolean;
}

/** By frame, the nodes that it held when it was folded. */
export type Folds = ReadonlyMap<string, readonly string[]>;
const NO_FOLDS: Folds = new Map();
/** By expanded node, how large its card is drawn. */
export type Expanded = ReadonlyMap<string, CardSize>;
const NONE_EXPANDED: Expanded = new Map();
const NOTHING: readonly string[] = [];

/** From the right side of a card to the port of a failure that leads nowhere yet. */
const ERROR_INSET = 28;

export class CardIndex {
  readonly #doc: GraphDocument;
  /** By kind, the config fields on its cards. */
  #shown: ReadonlyMap<string, readonly string[]> = new Map();
  #rects = new Map<string, Rect>();
  #tree = new RBush<CardItem>();
  #items = new Map<string, CardItem>();
  /** By folded frame, the nodes that were in it. */
  #folds: Folds = NO_FOLDS;
  /** By node that is not drawn, the folded frame that is drawn for it. */
  #holders: ReadonlyMap<string, string> = new Map();
  #held: ReadonlyMap<string, readonly string[]> = new Map();
  /** The frames that were folded when the holders were found. */
  #frames = "";
  /** The rectangles of nodes that are not drawn. */
  #inside = new Map<string, Rect>();
  #expanded: Expanded = NONE_EXPANDED;
  /** How what is around expanded cards gives way; null while none is expanded. */
  #spread: Spread | null = null;
  /** Where cards are in the file, while some are drawn elsewhere. */
  #filed = new Map<string, Rect>();
  /** Named ports by node, until the node or an edge of it changes. */
  #ports = new Map<string, Ports>();
  #portsBefore = new Map<string, Ports>();
  /** Sizes of cards, until something of a node or an edge changes that is not its place. */
  #sizes = new Map<string, CardSize>();
  /** Frames behind the cards, kept as long. */
  #behind = new Map<string, boolean>();
  /** The nodes that have a place of their own. */
  #placed = new Set<string>();

  constructor(doc: GraphDocument) {
    this.#doc = doc;
  }

  /** Takes which config fields the kinds show; answers whether they are others than before. */
  show(fields: ReadonlyMap<string, readonly string[]>): boolean {
    if (same(Object.fromEntries(fields), Object.fromEntries(this.#shown))) return false;
    this.#shown = fields;
    this.#sizes.clear();
    return true;
  }

  get rects(): ReadonlyMap<string, Rect> {
    return this.#rects;
  }

  /** Where a node is drawn: in a folded frame, where that is. */
  rect(name: string): Rect | undefined {
    return this.#rects.get(this.shown(name));
  }

  /** Where a node is in the file, drawn or not, and how large its card is when it is not expanded. */
  ownRect(name: string): Rect | undefined {
    return this.#filed.get(name) ?? this.#rects.get(name) ?? this.#inside.get(name);
  }

  /** Takes which cards are expanded; answers whether it is others than before, which needs a rebuild. */
  expand(expanded: Expanded): boolean {
    const same = [...expanded].every(([name, { width, height }]) => {
      const before = this.#expanded.get(name);
      return before?.width === width && before.height === height;
    });
    if (same && expanded.size === this.#expanded.size) return false;
    this.#expanded = expanded;
    return true;
  }

  /** The size of an expanded card; undefined for every other one. */
  expandedSize(name: string): CardSize | undefined {
    return this.#expanded.get(name);
  }

  /** The place of the file that is drawn at a point; without the room that some expanded cards take. */
  filed(point: Point, without?: ReadonlySet<string>): Point {
    if (this.#spread === null) return point;
    const spread =
      without && [...this.#expanded.keys()].some((name) => without.has(name))
        ? this.#spreadWithout(without)
        : this.#spread;
    return spread.filed(point);
  }

  #spreadWithout(without: ReadonlySet<string>): Spread {
    return new Spread(
      [...this.#expanded].flatMap(([name, size]) => {
        const rect = this.#filed.get(name);
        return rect && !without.has(name) ? [[rect, size] as const] : [];
      }),
    );
  }

  /** Draws every card where the expanded ones leave it. */
  #spreadOut(): void {
    this.#spread = null;
    this.#filed = new Map();
    if (![...this.#expanded.keys()].some((name) => this.#rects.has(name))) return;
    this.#filed = this.#rects;
    this.#spread = this.#spreadWithout(new Set());
    this.#rects = new Map([...this.#filed].map(([name, rect]) => [name, this.#drawn(name, rect)]));
  }

  /** Where the card of a node is drawn that stands here in the file. */
  #drawn(name: string, rect: Rect): Rect {
    if (this.#spread === null) return rect;
    if (this.liesBehind(name)) return this.#spread.frame(rect);
    const { width, height } = this.#expanded.get(name) ?? rect;
    return { ...this.#spread.drawn(rect), width, height };
  }

  /** The card that is drawn for a node: its own, or that of the folded frame that it is in. */
  shown(name: string): string {
    return this.#holders.get(name) ?? name;
  }

  /** The nodes for which the card of a folded frame is drawn; none for every other node. */
  heldBy(frame: string): readonly string[] {
    return this.#held.get(frame) ?? NOTHING;
  }

  isFolded(frame: string): boolean {
    return this.#folds.has(frame) && isFrame(this.#doc, frame);
  }

  /** Is it a frame that lies behind the cards? A folded one is a card itself. */
  liesBehind(name: string): boolean {
    let behind = this.#behind.get(name);
    if (behind === undefined) {
      behind = isFrame(this.#doc, name) && !this.#folds.has(name);
      this.#behind.set(name, behind);
    }
    return behind;
  }

  /** Takes which frames are folded; answers whether other nodes are drawn than before, which needs a rebuild. */
  fold(folds: Folds = this.#folds): boolean {
    if (folds.size === 0 && this.#folds.size === 0) return false;
    if (this.#folds !== folds) {
      this.#sizes.clear();
      this.#behind.clear();
    }
    this.#folds = folds;
    const holders = this.#findHolders();
    const frames = [...folds.keys()].filter((name) => this.isFolded(name)).join("\n");
    if (sameEntries(this.#holders, holders) && this.#frames === frames) return false;
    this.#holders = holders;
    this.#frames = frames;
    const held = new Map<string, string[]>();
    for (const [name, frame] of holders) {
      const names = held.get(frame) ?? [];
      held.set(frame, names);
      names.push(name);
    }
    this.#held = held;
    return true;
  }

  #findHolders(): Map<string, string> {
    const holders = new Map<string, string>();
    for (const [frame, names] of this.#folds) {
      if (!this.isFolded(frame)) continue;
      for (const name of names)
        if (name !== frame && !holders.has(name) && this.#doc.has(`node:${name}`)) holders.set(name, frame);
    }
    // Of frames in each other the outermost is drawn.
    const outermost = (name: string): string => {
      const seen = new Set<string>();
      let at = name;
      for (let next = holders.get(at); next !== undefined && !seen.has(next); next = holders.get(at)) {
        seen.add(next);
        at = next;
      }
      return at;
    };
    return new Map([...holders.keys()].map((name) => [name, outermost(name)]));
  }

  /** The rows of text on a node's card. */
  rowsOf(name: string): CardRow[] {
    const node = nodeOf(this.#doc.get(`node:${name}`));
    return cardRows(node, this.#shown.get(node.kind) ?? []);
  }

  /** The named ports of a node; the same value while nothing about them has changed. */
  ports(name: string): Ports {
    let ports = this.#ports.get(name);
    if (ports === undefined) {
      const before = this.#portsBefore.get(name);
      const next = portsOf(this.#doc, name);
      ports = before !== undefined && same(before, next) ? before : next;
      this.#ports.set(name, ports);
    }
    return ports;
  }

  /** What stands on a node's card. */
  bodyOf(name: string): CardBody {
    const { ports, expression, error } = this.ports(name);
    return {
      rows: this.rowsOf(name).length,
      ports: ports.length + (error === null ? 0 : 1),
      caption: expression !== null,
    };
  }

  /** Where a wire leaves a node, by the named port or the plain one. */
  portPoint(name: string, port: string | null): Point | undefined {
    const rect = this.rect(name);
    if (rect && this.#holders.has(name)) return portOf(rect, "out");
    const index = port === null ? -1 : allPorts(this.ports(name)).findIndex(({ id }) => id === port);
    if (!rect) return undefined;
    // A failure that leads nowhere yet: the port is shown at the lower edge, under the pointer only.
    if (index < 0 && port === ERROR_PORT)
      return { x: rect.x + rect.width - ERROR_INSET, y: rect.y + rect.height };
    return index < 0
      ? portOf(rect, "out")
      : { x: rect.x + rect.width, y: rect.y + portRowY(this.bodyOf(name), index) };
  }

  /** The size of a card that is not expanded. */
  sizeOf(name: string): CardSize {
    let size = this.#sizes.get(name);
    if (size === undefined) {
      size = this.#measured(name);
      this.#sizes.set(name, size);
    }
    return size;
  }

  #measured(name: string): CardSize {
    if (name === START || name === END) return { width: PILL_WIDTH, height: PILL_HEIGHT };
    if (this.isFolded(name)) return { width: NODE_WIDTH, height: HEAD };
    const height = cardHeight(this.bodyOf(name));
    const note = noteOf(this.#doc.get(`node:${name}`));
    return note ? noteSize(note, height) : { width: NODE_WIDTH, height };
  }

  /** Nodes in an area, frames among them. */
  in(area: Rect): string[] {
    return this.#tree.search(boxOf(area)).map((item) => item.name);
  }

  /** Cards that something new or a line would lie on; frames are behind all of them. */
  standingIn = (area: Box): CardItem[] => this.#tree.search(area).filter(({ behind }) => !behind);

  /** The topmost node under a point. */
  at(point: Point): string | null {
    const hits = this.#tree.search({ minX: point.x, minY: point.y, maxX: point.x, maxY: point.y });
    return (hits.findLast(({ behind }) => !behind) ?? hits.at(-1))?.name ?? null;
  }

  /** How many nodes have a place of their own. */
  get placedCount(): number {
    return this.#placed.size;
  }

  /** Takes that a node or its place is new, another one or gone. */
  notePlaced(name: string): void {
    if (this.#exists(name) && positionOf(this.#doc.get(`layout:${name}`))) this.#placed.add(name);
    else this.#placed.delete(name);
  }

  #exists(name: string): boolean {
    return name === START || name === END || this.#doc.has(`node:${name}`);
  }

  /** Forgets what stands on cards, after anything but their places has changed. */
  forgetBodies(): void {
    this.#sizes.clear();
    this.#behind.clear();
    this.#portsBefore = this.#ports;
    this.#ports = new Map();
  }

  /** Has a node's card the ports and the size that it had before its record changed? */
  keepsBody(name: string): boolean {
    const before = this.#ports.get(name);
    const rect = this.ownRect(name);
    if (before === undefined || rect === undefined || !same(before, portsOf(this.#doc, name))) return false;
    const { width, height } = this.#measured(name);
    return rect.width === width && rect.height === height;
  }

  #itemOf(name: string, rect: Rect): CardItem {
    const { x, y, width, height } = rect;
    return { name, rect, behind: this.liesBehind(name), minX: x, minY: y, maxX: x + width, maxY: y + height };
  }

  rebuild(): void {
    this.#rects = new Map();
    this.#placed = new Set();
    const names = [START, ...this.#doc.names("node"), END];
    const missing: string[] = [];
    for (const name of names) {
      const position = positionOf(this.#doc.get(`layout:${name}`));
      if (position) {
        const { width, height } = this.sizeOf(name);
        this.#rects.set(name, { x: position.x, y: position.y, width, height });
        this.#placed.add(name);
      } else missing.push(name);
    }
    if (missing.length > 0) {
      placeMissing(this.#doc, missing, this.#rects, (name) => this.sizeOf(name));
      // Drawing order stays that of the document.
      this.#rects = new Map(names.map((name) => [name, this.#rects.get(name) as Rect]));
    }
    this.#inside = new Map();
    for (const name of this.#holders.keys()) {
      const rect = this.#rects.get(name);
      if (rect) this.#inside.set(name, rect);
      this.#rects.delete(name);
    }
    this.#spreadOut();
    this.#items = new Map();
    for (const [name, rect] of this.#rects) this.#items.set(name, this.#itemOf(name, rect));
    this.#tree = new RBush<CardItem>().load([...this.#items.values()]);
  }

  place(name: string): void {
    const old = this.#items.get(name);
    if (old) this.#tree.remove(old);
    const position = positionOf(this.#doc.get(`layout:${name}`));
    if (!this.#exists(name) || !position) {
      this.#items.delete(name);
      this.#rects.delete(name);
      this.#filed.delete(name);
      this.#inside.delete(name);
      return;
    }
    const own: Rect = { ...position, ...this.sizeOf(name) };
    if (this.#holders.has(name)) {
      this.#inside.set(name, own);
      return;
    }
    if (this.#spread !== null) this.#filed.set(name, own);
    const rect = this.#drawn(name, own);
    this.#rects.set(name, rect);
    const item = this.#itemOf(name, rect);
    this.#items.set(name, item);
    this.#tree.insert(item);
  }
}

function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, holder]) => b.get(name) === holder);
}
