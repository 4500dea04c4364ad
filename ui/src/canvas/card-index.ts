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
  portOf,
  portRowY,
  type Rect,
} from "./geometry";
import { type Box, boxOf } from "./line-boxes";
import { isFrame, noteOf, noteSize } from "./notes";
import { placeMissing } from "./placement";

interface CardItem extends Box {
  readonly name: string;
  readonly rect: Rect;
}

/** From the right side of a card to the port of a failure that leads nowhere yet. */
const ERROR_INSET = 28;

export class CardIndex {
  readonly #doc: GraphDocument;
  /** By kind, the config fields on its cards. */
  #shown: ReadonlyMap<string, readonly string[]> = new Map();
  #rects = new Map<string, Rect>();
  #tree = new RBush<CardItem>();
  #items = new Map<string, CardItem>();
  /** Named ports by node, until the node or an edge of it changes. */
  #ports = new Map<string, Ports>();
  #portsBefore = new Map<string, Ports>();

  constructor(doc: GraphDocument) {
    this.#doc = doc;
  }

  /** Takes which config fields the kinds show; answers whether they are others than before. */
  show(fields: ReadonlyMap<string, readonly string[]>): boolean {
    if (same(Object.fromEntries(fields), Object.fromEntries(this.#shown))) return false;
    this.#shown = fields;
    return true;
  }

  get rects(): ReadonlyMap<string, Rect> {
    return this.#rects;
  }

  rect(name: string): Rect | undefined {
    return this.#rects.get(name);
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
    const rect = this.#rects.get(name);
    const index = port === null ? -1 : allPorts(this.ports(name)).findIndex(({ id }) => id === port);
    if (!rect) return undefined;
    // A failure that leads nowhere yet: the port is shown at the lower edge, under the pointer only.
    if (index < 0 && port === ERROR_PORT)
      return { x: rect.x + rect.width - ERROR_INSET, y: rect.y + rect.height };
    return index < 0
      ? portOf(rect, "out")
      : { x: rect.x + rect.width, y: rect.y + portRowY(this.bodyOf(name), index) };
  }

  sizeOf(name: string): { width: number; height: number } {
    if (name === START || name === END) return { width: PILL_WIDTH, height: PILL_HEIGHT };
    const height = cardHeight(this.bodyOf(name));
    const note = noteOf(this.#doc.get(`node:${name}`));
    return note ? noteSize(note, height) : { width: NODE_WIDTH, height };
  }

  /** Nodes in an area, frames among them. */
  in(area: Rect): string[] {
    return this.#tree.search(boxOf(area)).map((item) => item.name);
  }

  /** Cards that something new or a line would lie on; frames are behind all of them. */
  standingIn = (area: Box): CardItem[] =>
    this.#tree.search(area).filter(({ name }) => !isFrame(this.#doc, name));

  /** The topmost node under a point. */
  at(point: Point): string | null {
    const hits = this.#tree.search({ minX: point.x, minY: point.y, maxX: point.x, maxY: point.y });
    return (hits.findLast(({ name }) => !isFrame(this.#doc, name)) ?? hits.at(-1))?.name ?? null;
  }

  /** How many nodes have a place of their own. */
  placedCount(): number {
    let count = 0;
    for (const name of this.#doc.names("layout")) {
      if (
        (name === START || name === END || this.#doc.has(`node:${name}`)) &&
        positionOf(this.#doc.get(`layout:${name}`))
      ) {
        count += 1;
      }
    }
    return count;
  }

  forgetPorts(): void {
    this.#portsBefore = this.#ports;
    this.#ports = new Map();
  }

  rebuild(): void {
    this.forgetPorts();
    this.#rects = new Map();
    const names = [START, ...this.#doc.names("node"), END];
    const missing: string[] = [];
    for (const name of names) {
      const position = positionOf(this.#doc.get(`layout:${name}`));
      if (position) this.#rects.set(name, { ...position, ...this.sizeOf(name) });
      else missing.push(name);
    }
    if (missing.length > 0) {
      placeMissing(this.#doc, missing, this.#rects, (name) => this.sizeOf(name));
      // Drawing order stays that of the document.
      this.#rects = new Map(names.map((name) => [name, this.#rects.get(name) as Rect]));
    }
    this.#items = new Map();
    for (const [name, rect] of this.#rects) this.#items.set(name, { name, rect, ...boxOf(rect) });
    this.#tree = new RBush<CardItem>().load([...this.#items.values()]);
  }

  place(name: string): void {
    const old = this.#items.get(name);
    if (old) this.#tree.remove(old);
    const exists = name === START || name === END || this.#doc.has(`node:${name}`);
    const position = positionOf(this.#doc.get(`layout:${name}`));
    if (!exists || !position) {
      this.#items.delete(name);
      this.#rects.delete(name);
      return;
    }
    const rect: Rect = { ...position, ...this.sizeOf(name) };
    this.#rects.set(name, rect);
    const item: CardItem = { name, rect, ...boxOf(rect) };
    this.#items.set(name, item);
    this.#tree.insert(item);
  }
}
