/**
 * What is where, and what is in view. The scene keeps the rectangles of nodes and the boxes of edge lines in two
 * R-trees that follow the document patch by patch; the canvas asks it for the few that are near the view, for the lane
 * of a line that goes round, for what is under a point. No React here.
 */
import type { Schema } from "../components/schema-form/schema";
import type { GraphDocument } from "../document/document";
import type { Point } from "../document/edits";
import { errorEdge } from "../document/error-ways";
import { type Jump, jumpsOf, type DynamicTargets, placesOf, unknownJumps } from "../document/node-references";
import { same } from "../document/patch";
import type { Ports } from "../document/ports";
import { isObject, type Json } from "../document/types";
import { CardIndex, type Expanded, type Folds } from "./card-index";
import { type CardBody, type CardRow, union, type Rect } from "./geometry";
import { boxOf } from "./line-boxes";
import { LineIndex } from "./line-index";
import type { Line } from "./lines";
import { noteOf } from "./notes";
import type { CardSize } from "./spread";

/** When more nodes change at once, all is built again, which is faster than to place each. */
const MOST_PLACED = 300;

export class Scene {
  readonly doc: GraphDocument;
  readonly #cards: CardIndex;
  readonly #lines: LineIndex;
  #leading: ReadonlyMap<string, Schema> = new Map();
  #dynamicTargets: DynamicTargets = {};
  #jumps: readonly Jump[] | null = null;
  #bounds: Rect | null = null;
  /** Records of nodes as they were followed last. */
  #records = new Map<string, Json | undefined>();
  #version = 0;
  #stop: () => void;
  #listeners = new Set<() => void>();

  constructor(doc: GraphDocument) {
    this.doc = doc;
    this.#cards = new CardIndex(doc);
    this.#lines = new LineIndex(doc, this.#cards);
    this.#noteRecords();
    this.#rebuild();
    this.#stop = doc.watch((changed) => this.#follow(changed));
  }

  dispose(): void {
    this.#stop();
  }

  get version(): number {
    return this.#version;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Which config fields the kinds show on their cards; decides the heights. */
  setCards(cards: ReadonlyMap<string, readonly string[]>): void {
    if (!this.#cards.show(cards)) return;
    this.#rebuild();
    this.#notify();
  }

  /** Labels are words of another language now, and have other widths. */
  relabel(): void {
    this.#forgetContents();
    this.#rebuild();
    this.#notify();
  }

  /** Frames that are drawn as one card, with the nodes in it. */
  setFolded(folds: Folds): void {
    if (!this.#cards.fold(folds)) return;
    this.#rebuild();
    this.#notify();
  }

  /** Cards that show the graph which their node runs, by how large they are drawn. */
  setExpanded(expanded: Expanded): void {
    if (!this.#cards.expand(expanded)) return;
    this.#rebuild();
    this.#notify();
  }

  /** The size of an expanded card; undefined for every other one. */
  expandedSize(name: string): CardSize | undefined {
    return this.#cards.expandedSize(name);
  }

  /** The card that is drawn for a node: its own, or that of the folded frame that it is in. */
  shown(name: string): string {
    return this.#cards.shown(name);
  }

  /** The nodes for which the card of a folded frame is drawn; none for every other node. */
  heldBy(frame: string): readonly string[] {
    return this.#cards.heldBy(frame);
  }

  isFolded(frame: string): boolean {
    return this.#cards.isFolded(frame);
  }

  /** Is it a frame that lies behind the cards? A folded one is a card itself. */
  liesBehind(name: string): boolean {
    return this.#cards.liesBehind(name);
  }

  /** Kinds whose settings may name a node to go to, with their schemas. */
  setLeading(leading: ReadonlyMap<string, Schema>): void {
    this.#leading = leading;
    this.#jumps = null;
    this.#notify();
  }

  /** Where nodes may go besides, as the host reads it in programs. */
  setDynamicTargets(targets: DynamicTargets): void {
    this.#dynamicTargets = targets;
    this.#jumps = null;
    this.#notify();
  }

  /** Ways that are no edges. */
  jumps(): readonly Jump[] {
    this.#jumps ??= this.#leading.size === 0 ? [] : this.#findJumps();
    return this.#jumps;
  }

  #findJumps(): Jump[] {
    const known = jumpsOf(this.doc, this.#leading, this.#dynamicTargets);
    return [...known, ...unknownJumps(this.doc, this.#leading, known)];
  }

  /** Kinds whose settings may name a node, with their schemas. */
  get leading(): ReadonlyMap<string, Schema> {
    return this.#leading;
  }

  /** Where a node is drawn: in a folded frame, where that is. */
  rect(name: string): Rect | undefined {
    return this.#cards.rect(name);
  }

  rects(): ReadonlyMap<string, Rect> {
    return this.#cards.rects;
  }

  /** Where a node is in the file, drawn or not. */
  position(name: string): Point {
    const rect = this.#cards.ownRect(name);
    return rect ? { x: rect.x, y: rect.y } : { x: 0, y: 0 };
  }

  /** Where a node is in the file, and its size when it is not expanded; in a folded frame, of that. */
  standing(name: string): Rect | undefined {
    return this.#cards.ownRect(this.shown(name));
  }

  /** Where the corner of a node is drawn, or would be in the frame that is folded over it. */
  corner(name: string): Point {
    const rect = this.shown(name) === name ? this.rect(name) : undefined;
    return rect ? { x: rect.x, y: rect.y } : this.position(name);
  }

  /** The place of the file that is drawn at a point. */
  filed(point: Point): Point {
    return this.#cards.filed(point);
  }

  /** Where nodes are in the file once they are dragged together by so much on the canvas. */
  dragged(names: Iterable<string>, by: Point): Map<string, Point> {
    const all = new Set(names);
    return new Map(
      [...all].map((name) => {
        const at = this.corner(this.shown(name));
        const from = this.#cards.filed(at, all);
        const to = this.#cards.filed({ x: at.x + by.x, y: at.y + by.y }, all);
        const own = this.position(name);
        return [name, { x: own.x + to.x - from.x, y: own.y + to.y - from.y }];
      }),
    );
  }

  bounds(): Rect | null {
    this.#bounds ??= union(this.rects().values());
    return this.#bounds;
  }

  /** What nodes and lines take up together. */
  extent(): Rect | null {
    return union([...this.rects().values(), ...this.#lines.boxes()]);
  }

  sizeOf(name: string): { width: number; height: number } {
    return this.#cards.sizeOf(name);
  }

  /** The rows of text on a node's card. */
  rowsOf(name: string): CardRow[] {
    return this.#cards.rowsOf(name);
  }

  /** The named ports of a node; the same value while nothing about them has changed. */
  ports(name: string): Ports {
    return this.#cards.ports(name);
  }

  /** What stands on a node's card. */
  bodyOf(name: string): CardBody {
    return this.#cards.bodyOf(name);
  }

  /** Where a wire leaves a node, by the named port or the plain one. */
  portPoint(name: string, port: string | null): Point | undefined {
    return this.#cards.portPoint(name, port);
  }

  line(id: string): Line | undefined {
    return this.#lines.lines.get(id);
  }

  lines(): ReadonlyMap<string, Line> {
    return this.#lines.lines;
  }

  /** Ids of all lines that begin or end at a node, as of edges. */
  edgesOf(name: string): string[] {
    return this.#lines.edgesOf(name);
  }

  /** Do lines lead back to a node whose visits are bounded? They say so then. */
  boundShown(name: string): boolean {
    return this.edgesOf(name).some((edge) =>
      this.linesOf(edge).some((line) => line.to === name && line.bound !== null),
    );
  }

  linesOf(edge: string): readonly Line[] {
    return this.#lines.of(edge);
  }

  nodesIn(area: Rect): string[] {
    return this.#cards.in(area);
  }

  /** Nodes that something new or a line would lie on; frames are behind all of them. */
  cardsIn(area: Rect): string[] {
    return this.#cards.standingIn(boxOf(area)).map(({ name }) => name);
  }

  linesIn(area: Rect): Line[] {
    return this.#lines.in(area);
  }

  /** The topmost node under a point. */
  nodeAt(point: Point): string | null {
    return this.#cards.at(point);
  }

  #rebuild(moved = false): void {
    this.#cards.rebuild();
    this.#lines.rebuild(moved);
    this.#bounds = null;
  }

  /** Forgets what cards and lines show, after anything but places has changed. */
  #forgetContents(): void {
    this.#cards.forgetBodies();
    this.#lines.forgetViews();
  }

  #notify(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }

  #noteRecords(): void {
    this.#records = new Map(this.doc.names("node").map((name) => [name, this.doc.get(`node:${name}`)]));
  }

  /**
   * Is a node as it was, but for settings that only its own card shows? What is typed there costs no more in a large graph
   * than in a small one.
   */
  #concernsCardOnly(id: string): boolean {
    if (!id.startsWith("node:")) return false;
    const name = id.slice("node:".length);
    const [before, now] = [this.#records.get(name), this.doc.get(id)];
    this.#records.set(name, now);
    return (
      isObject(before) &&
      isObject(now) &&
      noteOf(now) === null &&
      same({ ...before, config: null }, { ...now, config: null }) &&
      same(placesOf(before, this.#leading), placesOf(now, this.#leading)) &&
      this.#cards.keepsBody(name)
    );
  }

  #follow(all: ReadonlySet<string> | null): void {
    if (all === null) {
      this.#jumps = null;
      this.#noteRecords();
      this.#forgetContents();
      this.#rebuild();
      this.#notify();
      return;
    }
    const changed = [...all].filter((id) => !this.#concernsCardOnly(id));
    if (changed.length === 0) return;
    const nodes = new Set<string>();
    const edges = new Set<string>();
    let renamed = false;
    const moved = changed.every((id) => id.startsWith("layout:"));
    if (!moved) this.#forgetContents();
    for (const id of changed) {
      const colon = id.indexOf(":");
      const section = id.slice(0, colon);
      const name = id.slice(colon + 1);
      if (section === "node" || section === "layout") nodes.add(name);
      if (section === "node" && this.#lines.noteError(name)) edges.add(errorEdge(name));
      else if (section === "edge") edges.add(name);
      else if (id === "ids:node") renamed = true;
      if (section === "layout" || section === "node") this.#cards.notePlaced(name);
    }
    if (nodes.size === 0 && edges.size === 0) return;
    // Where nodes stand says nothing of where they lead.
    if (!moved) this.#jumps = null;
    // A frame may be gone, or what was in it; or what gives way to an expanded card does so from elsewhere.
    const grown = [...nodes].some((name) => this.#cards.expandedSize(name) !== undefined);
    if (this.#cards.fold() || grown) {
      this.#rebuild();
      this.#notify();
      return;
    }
    const unplaced = this.doc.names("node").length + 2 > this.#cards.placedCount;
    if (unplaced && (renamed || edges.size > 0 || nodes.size > 0)) {
      // Positions of nodes without one depend on their neighbours.
      this.#rebuild();
      this.#notify();
      return;
    }
    // A label more or less is a port more or less: the cards at both ends of the change follow.
    for (const edge of edges) {
      for (const name of this.#lines.sourcesOf(edge)) {
        const rect = this.#cards.ownRect(name);
        if (rect && rect.height !== this.sizeOf(name).height) nodes.add(name);
      }
    }
    if (nodes.size > MOST_PLACED) {
      this.#rebuild(moved);
      this.#notify();
      return;
    }
    for (const name of nodes) {
      const before = this.rect(name);
      this.#cards.place(name);
      for (const each of [name, ...this.heldBy(name)]) for (const edge of this.edgesOf(each)) edges.add(edge);
      for (const rect of [before, this.rect(name)])
        if (rect) for (const line of this.#lines.labelledBy(rect)) edges.add(line.edge);
    }
    this.#lines.place(edges);
    this.#bounds = null;
    this.#notify();
  }
}
