/**
 * What is where, and what is in view. The scene keeps the rectangles of nodes and the boxes of edge lines in two
 * R-trees that follow the document patch by patch; the canvas asks it for the few that are near the view, for the lane
 * of a line that goes round, for what is under a point. No React here.
 */
import RBush from "rbush";
import type { Schema } from "../components/schema-form/schema";
import type { GraphDocument } from "../document/document";
import type { Point } from "../document/edits";
import { same } from "../document/patch";
import { edgeOf, END, nodeOf, positionOf, START, type EdgePath } from "../document/types";
import { ERROR_PORT, errorEdge, errorNode, errorTarget } from "../document/error-ways";
import { allPorts, type Ports, portsOf } from "../document/ports";
import {
  type CardBody,
  type CardRow,
  cardHeight,
  cardRows,
  isBack,
  labelWidth,
  NODE_WIDTH,
  PILL_HEIGHT,
  PILL_WIDTH,
  portOf,
  portRowY,
  union,
  type Rect,
} from "./geometry";
import { type Loop, lanesOf } from "./wire-lanes";
import { type Jump, jumpsOf, type DynamicTargets, unknownJumps } from "../document/named";
import { isFrame, noteOf, noteSize } from "./notes";
import { besidesOf } from "./beside";
import { type Box, boxed, boxOf, forwardOf, type LineItem, loopOf } from "./line-boxes";
import { placeMissing } from "./placement";
import { type Fan, fansOf, MAX_FAN, NO_FAN } from "./wire-fans";
import { grown, isCrowded, LABEL_REACH, touch } from "./wire-labels";
import { type Forward, passesOf } from "./wire-passes";
import { boundOf, labelOf, lineId, type Line, type LineView, sameWay, shownLabel, startOf } from "./lines";

interface NodeItem extends Box {
  readonly name: string;
  readonly rect: Rect;
}

/** From the right side of a card to the port of a failure that leads nowhere yet. */
const ERROR_INSET = 28;

/** With more lines that lead back than this, a change moves only those of its own edges. */
const MAX_LOOPS = 300;

/** With more lines to the right than this, those that pass cards are left as they are. */
const MAX_PASSES = 2000;

export class Scene {
  readonly doc: GraphDocument;
  #cards: ReadonlyMap<string, readonly string[]> = new Map();
  #rects = new Map<string, Rect>();
  #nodes = new RBush<NodeItem>();
  #nodeItems = new Map<string, NodeItem>();
  #edges = new RBush<LineItem>();
  #lineItems = new Map<string, LineItem[]>();
  #lines = new Map<string, Line>();
  /** By node, the nodes whose failure leads there. */
  #errorsTo = new Map<string, Set<string>>();
  /** Fans by source, until something moves. */
  #fans = new Map<string, ReadonlyMap<string, Fan>>();
  /** Named ports by node, until the node or an edge of it changes. */
  #ports = new Map<string, Ports>();
  #portsBefore = new Map<string, Ports>();
  #leading: ReadonlyMap<string, Schema> = new Map();
  #dynamicTargets: DynamicTargets = {};
  #jumps: readonly Jump[] | null = null;
  #bounds: Rect | null = null;
  #version = 0;
  #stop: () => void;
  #listeners = new Set<() => void>();

  constructor(doc: GraphDocument) {
    this.doc = doc;
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
    if (same(Object.fromEntries(cards), Object.fromEntries(this.#cards))) return;
    this.#cards = cards;
    this.#rebuild();
    this.#notify();
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

  rect(name: string): Rect | undefined {
    return this.#rects.get(name);
  }

  rects(): ReadonlyMap<string, Rect> {
    return this.#rects;
  }

  position(name: string): Point {
    const rect = this.#rects.get(name);
    return rect ? { x: rect.x, y: rect.y } : { x: 0, y: 0 };
  }

  bounds(): Rect | null {
    this.#bounds ??= union(this.#rects.values());
    return this.#bounds;
  }

  /** What nodes and lines take up together. */
  extent(): Rect | null {
    const lines = [...this.#lineItems.values()].flat().map(({ minX, minY, maxX, maxY }) => ({
      x: minX,
      y: minY,
      width: maxX - minX,
      height: maxY - minY,
    }));
    return union([...this.#rects.values(), ...lines]);
  }

  /** The rows of text on a node's card. */
  rowsOf(name: string): CardRow[] {
    const node = nodeOf(this.doc.get(`node:${name}`));
    return cardRows(node, this.#cards.get(node.kind) ?? []);
  }

  /** The named ports of a node; the same value while nothing about them has changed. */
  ports(name: string): Ports {
    let ports = this.#ports.get(name);
    if (ports === undefined) {
      const before = this.#portsBefore.get(name);
      const next = portsOf(this.doc, name);
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

  line(id: string): Line | undefined {
    return this.#lines.get(id);
  }

  lines(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  /** Ids of all lines that begin or end at a node, as of edges. */
  edgesOf(name: string): string[] {
    return [
      ...this.doc.edgesOf(name),
      ...(this.#viewOf(errorEdge(name)) ? [errorEdge(name)] : []),
      ...[...(this.#errorsTo.get(name) ?? [])].map(errorEdge),
    ];
  }

  /** Do lines lead back to a node whose visits are bounded? They say so then. */
  boundShown(name: string): boolean {
    return this.edgesOf(name).some((edge) =>
      this.linesOf(edge).some((line) => line.to === name && line.bound !== null),
    );
  }

  linesOf(edge: string): readonly Line[] {
    return (this.#lineItems.get(edge) ?? []).map((item) => item.line);
  }

  nodesIn(area: Rect): string[] {
    return this.#nodes.search(boxOf(area)).map((item) => item.name);
  }

  /** Nodes that something new or a line would lie on; frames are behind all of them. */
  cardsIn(area: Rect): string[] {
    return this.nodesIn(area).filter((name) => !isFrame(this.doc, name));
  }

  linesIn(area: Rect): Line[] {
    return this.#edges.search(boxOf(area)).map((item) => item.line);
  }

  /** The topmost node under a point. */
  nodeAt(point: Point): string | null {
    const hits = this.#nodes.search({ minX: point.x, minY: point.y, maxX: point.x, maxY: point.y });
    return (hits.findLast(({ name }) => !isFrame(this.doc, name)) ?? hits.at(-1))?.name ?? null;
  }

  #notify(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }

  #follow(changed: ReadonlySet<string> | null): void {
    if (changed === null) {
      this.#jumps = null;
      this.#rebuild();
      this.#notify();
      return;
    }
    const nodes = new Set<string>();
    const edges = new Set<string>();
    let renamed = false;
    this.#forgetPorts();
    for (const id of changed) {
      const colon = id.indexOf(":");
      const section = id.slice(0, colon);
      const name = id.slice(colon + 1);
      if (section === "node" || section === "layout") nodes.add(name);
      if (section === "node" && this.#noteError(name)) edges.add(errorEdge(name));
      else if (section === "edge") edges.add(name);
      else if (id === "ids:node") renamed = true;
    }
    if (nodes.size === 0 && edges.size === 0) return;
    this.#jumps = null;
    const unplaced = this.doc.names("node").length + 2 > this.#placedCount();
    if (unplaced && (renamed || edges.size > 0 || nodes.size > 0)) {
      // Positions of nodes without one depend on their neighbours.
      this.#rebuild();
      this.#notify();
      return;
    }
    // A label more or less is a port more or less: the cards at both ends of the change follow.
    for (const edge of edges) {
      const before = (this.#lineItems.get(edge) ?? []).map((item) => item.line.from);
      for (const name of new Set([...before, ...(this.#viewOf(edge)?.sources ?? [])])) {
        const rect = this.#rects.get(name);
        if (rect && rect.height !== this.sizeOf(name).height) nodes.add(name);
      }
    }
    for (const name of nodes) {
      const before = this.#rects.get(name);
      this.#placeNode(name);
      for (const edge of this.edgesOf(name)) edges.add(edge);
      for (const rect of [before, this.#rects.get(name)])
        if (rect) for (const line of this.#labelledBy(rect)) edges.add(line.edge);
    }
    this.#placeEdges(edges);
    this.#bounds = null;
    this.#notify();
  }

  #placedCount(): number {
    let count = 0;
    for (const name of this.doc.names("layout")) {
      if (
        (name === START || name === END || this.doc.has(`node:${name}`)) &&
        positionOf(this.doc.get(`layout:${name}`))
      ) {
        count += 1;
      }
    }
    return count;
  }

  sizeOf(name: string): { width: number; height: number } {
    if (name === START || name === END) return { width: PILL_WIDTH, height: PILL_HEIGHT };
    const height = cardHeight(this.bodyOf(name));
    const note = noteOf(this.doc.get(`node:${name}`));
    return note ? noteSize(note, height) : { width: NODE_WIDTH, height };
  }

  #forgetPorts(): void {
    this.#portsBefore = this.#ports;
    this.#ports = new Map();
  }

  #rebuild(): void {
    this.#forgetPorts();
    this.#rects = new Map();
    const names = [START, ...this.doc.names("node"), END];
    const missing: string[] = [];
    for (const name of names) {
      const position = positionOf(this.doc.get(`layout:${name}`));
      if (position) this.#rects.set(name, { ...position, ...this.sizeOf(name) });
      else missing.push(name);
    }
    if (missing.length > 0) {
      placeMissing(this.doc, missing, this.#rects, (name) => this.sizeOf(name));
      // Drawing order stays that of the document.
      this.#rects = new Map(names.map((name) => [name, this.#rects.get(name) as Rect]));
    }
    this.#nodeItems = new Map();
    for (const [name, rect] of this.#rects) this.#nodeItems.set(name, { name, rect, ...boxOf(rect) });
    this.#nodes = new RBush<NodeItem>().load([...this.#nodeItems.values()]);
    this.#lineItems = new Map();
    this.#lines = new Map();
    this.#fans.clear();
    const items: LineItem[] = [];
    this.#errorsTo.clear();
    const failures = this.doc.names("node").filter((name) => this.#noteError(name));
    for (const edge of [...this.doc.names("edge"), ...failures.map(errorEdge)]) {
      const own = this.#makeLines(edge);
      this.#lineItems.set(edge, own);
      for (const item of own) this.#lines.set(item.line.id, item.line);
      items.push(...own);
    }
    this.#edges = new RBush<LineItem>().load(items);
    this.#bounds = null;
    this.#applyLanes(items.map((item) => item.line.edge));
  }

  /** The lines whose labels would be where a card is or was. */
  #labelledBy(card: Rect): Line[] {
    return this.linesIn(card).filter((line) => {
      const from = this.#rects.get(line.from);
      if (line.labelWidth === 0 || !from) return false;
      const slots = [{ width: line.labelWidth, fan: line.fan, end: Infinity }];
      return isCrowded(startOf(line, from), slots, (area) => (touch(area, boxOf(card)) ? [card] : []));
    });
  }

  #placeNode(name: string): void {
    const old = this.#nodeItems.get(name);
    if (old) this.#nodes.remove(old);
    const exists = name === START || name === END || this.doc.has(`node:${name}`);
    const position = positionOf(this.doc.get(`layout:${name}`));
    if (!exists || !position) {
      this.#nodeItems.delete(name);
      this.#rects.delete(name);
      return;
    }
    const rect: Rect = { ...position, ...this.sizeOf(name) };
    this.#rects.set(name, rect);
    const item: NodeItem = { name, rect, ...boxOf(rect) };
    this.#nodeItems.set(name, item);
    this.#nodes.insert(item);
  }

  /** Makes the lines of these edges again, and of those that share a port with them: their fans depend on each other. */
  #placeEdges(edges: ReadonlySet<string>): void {
    const all = new Set(edges);
    this.#fans.clear();
    for (const edge of edges) {
      const before = this.#lineItems.get(edge)?.flatMap((item) => [item.line.from, item.line.to]) ?? [];
      const view = this.#viewOf(edge);
      for (const node of new Set([...before, ...(view?.sources ?? []), ...(view?.targets ?? [])])) {
        // A hub's edges are not all made again for one of them: beyond this many, fans are out of sight anyway.
        const neighbours = this.edgesOf(node);
        if (neighbours.length <= MAX_FAN) for (const neighbour of neighbours) all.add(neighbour);
      }
    }
    for (const edge of all) {
      for (const item of this.#lineItems.get(edge) ?? []) {
        this.#edges.remove(item);
        this.#lines.delete(item.line.id);
      }
      if (!this.#viewOf(edge)) {
        this.#lineItems.delete(edge);
        continue;
      }
      const own = this.#makeLines(edge);
      this.#lineItems.set(edge, own);
      for (const item of own) {
        this.#edges.insert(item);
        this.#lines.set(item.line.id, item.line);
      }
    }
    this.#applyLanes(all);
  }

  /** Remembers where a node's failure leads; true when it leads, or led, somewhere. */
  #noteError(name: string): boolean {
    const own = errorEdge(name);
    const before = this.#lineItems.get(own)?.[0]?.line.to;
    if (before !== undefined) this.#errorsTo.get(before)?.delete(name);
    const to = errorTarget(this.doc, own);
    if (to !== null) {
      const from = this.#errorsTo.get(to) ?? new Set();
      this.#errorsTo.set(to, from.add(name));
    }
    return to !== null || before !== undefined;
  }

  #viewOf(edge: string): LineView | null {
    const record = this.doc.get(`edge:${edge}`);
    if (record !== undefined) return edgeOf(record);
    const from = errorNode(this.doc, edge);
    const to = errorTarget(this.doc, edge);
    if (from === null || to === null) return null;
    return { form: "error", sources: [from], targets: [to], paths: [{ part: "", from, to }] };
  }

  #makeLines(edge: string): LineItem[] {
    const view = this.#viewOf(edge);
    if (!view) return [];
    const items: LineItem[] = [];
    const fanOf = (path: EdgePath) =>
      this.#fanOf(path.from, lineId(edge, path.part), labelOf(view.form, path, view.expression) !== null);
    const highest = view.form === "route" ? Math.min(...view.paths.map((path) => fanOf(path).fan)) : 0;
    for (const path of view.paths) {
      const from = this.#rects.get(path.from);
      const to = this.#rects.get(path.to);
      if (!from || !to) continue;
      const label = labelOf(view.form, path, view.expression);
      const { fan, lead, beside } = fanOf(path);
      const ported = view.form === "route" || view.form === "error";
      const port = ported ? this.#portOf(path.from, edge, path.part) : null;
      const back = isBack(portOf(from, "out"), portOf(to, "in"));
      const width =
        label === null || port ? 0 : labelWidth(shownLabel(view.form, path.label === null, label));
      const line: Line = {
        id: lineId(edge, path.part),
        edge,
        part: path.part,
        port: port?.id ?? null,
        portY: port?.y ?? portOf(from, "out").y - from.y,
        form: view.form,
        from: path.from,
        to: path.to,
        label,
        labelWidth: width,
        isDefault: view.form === "route" && path.label === null,
        caption: view.form === "route" && !port && fan === highest ? (view.expression ?? "") : null,
        fan,
        lead,
        beside: beside && port === null ? { x: 0, y: 0, width } : null,
        join: view.form === "join" ? this.#joinOffset(edge, path.to) : null,
        bound: back ? boundOf(this.doc.get(`node:${path.to}`)) : null,
        lane: null,
        pass: null,
        inset: 0,
        outset: 0,
      };
      items.push(boxed(line, from, to));
    }
    return items;
  }

  /** The named port of a label, and its height on the card. */
  #portOf(node: string, edge: string, part: string): { id: string; y: number } | null {
    const ports = allPorts(this.ports(node));
    const index = ports.findIndex((port) => port.edge === edge && port.part === part);
    const port = ports[index];
    return port ? { id: port.id, y: portRowY(this.bodyOf(node), index) } : null;
  }

  /** The place of a line in the fan of its source: labelled lines are spread, all plain ones share one place. */
  #fanOf(source: string, id: string, labelled: boolean): Fan {
    let fans = this.#fans.get(source);
    if (fans === undefined) {
      fans = fansOf(this.doc, source, this.#rects, this.ports(source).ports.length > 0, this.#cardsAt);
      this.#fans.set(source, fans);
    }
    return fans.get(labelled ? id : "") ?? NO_FAN;
  }

  #cardsAt = (area: Box): NodeItem[] =>
    this.#nodes.search(area).filter(({ name }) => !isFrame(this.doc, name));

  /** Several joins into one node get a mark each. */
  #joinOffset(edge: string, to: string): number {
    const joins = this.doc
      .edgesTo(to)
      .filter((other) => edgeOf(this.doc.get(`edge:${other}`)).form === "join");
    return (joins.indexOf(edge) - (joins.length - 1) / 2) * 24;
  }

  /** Finds the lanes of lines that go round, once all rectangles are known. */
  #applyLanes(edges: Iterable<string>): void {
    const all = [...this.#lines.values()].filter((line) => this.#goesRound(line));
    // They depend on each other; in a large graph only those that changed move.
    const changed = new Set(edges);
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    const loops = lines.flatMap((line): Loop[] => {
      const from = this.#rects.get(line.from);
      const to = this.#rects.get(line.to);
      return from && to ? [loopOf(line, from, to)] : [];
    });
    const lanes = lanesOf(loops, this.#cardsAt);
    this.#replaceLines(lines, (line) => lanes.get(line.id) ?? {});
    this.#applyPasses(changed);
    this.#applyLabels(changed);
  }

  /** Leads lines to the right past cards, as long as there are not too many to look at. */
  #applyPasses(changed: ReadonlySet<string>): void {
    const all = [...this.#lines.values()].filter((line) => !this.#goesRound(line));
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    if (lines.length > MAX_PASSES) return;
    const forward = lines.flatMap((line): Forward[] => {
      const from = this.#rects.get(line.from);
      const to = this.#rects.get(line.to);
      return from && to ? [forwardOf(line, from, to)] : [];
    });
    const passes = passesOf(forward, this.#cardsAt);
    this.#replaceLines(lines, (line) => ({ pass: passes.get(line.id) ?? null }));
  }

  /** Finds room for the labels that have none behind their port, once every line has its way. */
  #applyLabels(changed: ReadonlySet<string>): void {
    const all = [...this.#lines.values()].filter((line) => line.beside !== null);
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    if (lines.length === 0) return;
    const near = lines.length > MAX_LOOPS ? this.#lines.values() : this.#linesNear(lines);
    const places = besidesOf(lines, near, this.#rects, this.#cardsAt);
    this.#replaceLines(lines, (line) => ({ beside: places.get(line.id) ?? line.beside }));
  }

  /** Lines whose labels might lie where those of these could be. */
  #linesNear(lines: readonly Line[]): Set<Line> {
    const near = new Set<Line>();
    for (const edge of new Set(lines.map((line) => line.edge)))
      for (const item of this.#lineItems.get(edge) ?? [])
        for (const other of this.#edges.search(grown(item, LABEL_REACH))) near.add(other.line);
    return near;
  }

  /** Gives lines another way. */
  #replaceLines(lines: readonly Line[], way: (line: Line) => Partial<Line>): void {
    for (const edge of new Set(lines.map((line) => line.edge))) {
      const next = (this.#lineItems.get(edge) ?? []).map((item) => {
        const from = this.#rects.get(item.line.from);
        const to = this.#rects.get(item.line.to);
        if (!from || !to) return item;
        const line = { ...item.line, ...way(item.line) };
        if (sameWay(line, item.line)) return item;
        this.#edges.remove(item);
        const lined = boxed(line, from, to);
        this.#edges.insert(lined);
        this.#lines.set(lined.line.id, lined.line);
        return lined;
      });
      this.#lineItems.set(edge, next);
    }
  }

  #goesRound(line: Line): boolean {
    const from = this.#rects.get(line.from);
    const to = this.#rects.get(line.to);
    return from !== undefined && to !== undefined && isBack(portOf(from, "out"), portOf(to, "in"));
  }
}
