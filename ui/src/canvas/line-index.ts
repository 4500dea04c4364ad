/**
 * Where the lines of edges are: the box of every line, in an R-tree, and the way that it takes between the cards. Lines
 * depend on each other, by the fan of their source, by their lanes and by their labels.
 */
import RBush from "rbush";
import type { GraphDocument } from "../document/document";
import { errorEdge, errorNode, errorTarget, errorWayOf } from "../document/error-ways";
import { allPorts } from "../document/ports";
import { edgeOf, type EdgePath } from "../document/types";
import { besidesOf } from "./wire-label-fallback";
import type { CardIndex } from "./card-index";
import { isBack, labelWidth, portOf, portRowY, type Rect } from "./geometry";
import { type Box, boxed, boxOf, forwardOf, type LineItem, loopOf } from "./line-boxes";
import { boundOf, labelOf, lineId, type Line, type LineView, sameWay, shownLabel, startOf } from "./lines";
import { type Fan, fansOf, type Leaving, MAX_FAN, NO_FAN } from "./wire-fans";
import { grown, isCrowded, LABEL_REACH, touch, withBadges } from "./wire-labels";
import { type Loop, lanesOf } from "./wire-lanes";
import { type Forward, passesOf } from "./wire-passes";

/** With more lines that lead back than this, a change moves only those of its own edges. */
const MAX_LOOPS = 300;

/** With more lines to the right than this, those that pass cards are left as they are. */
const MAX_PASSES = 2000;

/** All lines as they were made for the places of the cards. */
interface Made {
  readonly rects: ReadonlyMap<string, Rect>;
  readonly tree: RBush<LineItem>;
  readonly items: Map<string, LineItem[]>;
  readonly lines: Map<string, Line>;
}

export class LineIndex {
  readonly #doc: GraphDocument;
  readonly #cards: CardIndex;
  /** Null while all lines are made again. */
  #tree: RBush<LineItem> | null = new RBush<LineItem>();
  #items = new Map<string, LineItem[]>();
  #lines = new Map<string, Line>();
  /** What lines are drawn from, by edge, until something changes that is not a place. */
  #views = new Map<string, LineView | null>();
  /** Does a node have lines with labels? Kept as long. */
  #labelled = new Map<string, boolean>();
  /** All edges that have lines, and ways of failures, kept as long. */
  #edges: readonly string[] | null = null;
  /** By node, the nodes whose failure leads there. */
  #failuresTo = new Map<string, Set<string>>();
  /** The cards that lines were made for; null once something has changed that is not a place. */
  #rects: ReadonlyMap<string, Rect> | null = null;
  /** As it was before all cards were moved together, which undo and redo go back to. */
  #before: Made | null = null;
  /** Where cards are drawn. */
  readonly #drawn = { get: (name: string) => this.#cards.rect(name) };
  /** Fans by source, until something moves. */
  #fans = new Map<string, ReadonlyMap<string, Fan>>();

  constructor(doc: GraphDocument, cards: CardIndex) {
    this.#doc = doc;
    this.#cards = cards;
  }

  get lines(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  /** The boxes of all lines. */
  boxes(): Rect[] {
    return [...this.#items.values()].flat().map(({ minX, minY, maxX, maxY }) => ({
      x: minX,
      y: minY,
      width: maxX - minX,
      height: maxY - minY,
    }));
  }

  of(edge: string): readonly Line[] {
    return (this.#items.get(edge) ?? []).map((item) => item.line);
  }

  in(area: Rect): Line[] {
    return this.#search(boxOf(area));
  }

  #search(area: Box): Line[] {
    return this.#tree?.search(area).map((item) => item.line) ?? [];
  }

  /** Ids of all lines that begin or end at a node, as of edges. */
  edgesOf(name: string): string[] {
    return [
      ...this.#doc.edgesOf(name),
      ...(this.#viewOf(errorEdge(name)) ? [errorEdge(name)] : []),
      ...[...(this.#failuresTo.get(name) ?? [])].map(errorEdge),
    ];
  }

  /** Nodes that an edge leaves, or left when its lines were made. */
  sourcesOf(edge: string): ReadonlySet<string> {
    return new Set([...this.of(edge).map((line) => line.from), ...(this.#viewOf(edge)?.sources ?? [])]);
  }

  /** The lines whose labels would be where a card is or was. */
  labelledBy(card: Rect): Line[] {
    return this.#search(withBadges(boxOf(card))).filter((line) => {
      const from = this.#cards.rect(line.from);
      if (line.labelWidth === 0 || !from) return false;
      const slots = [{ width: line.labelWidth, fan: line.fan, end: Infinity }];
      return isCrowded(startOf(line, from), slots, (area) => (touch(area, boxOf(card)) ? [card] : []));
    });
  }

  /** Remembers where a node's failure leads; true when it leads, or led, somewhere. */
  noteError(name: string): boolean {
    const own = errorEdge(name);
    const before = this.#items.get(own)?.[0]?.line.to;
    if (before !== undefined) this.#failuresTo.get(before)?.delete(name);
    const to = errorTarget(this.#doc, own);
    if (to !== null) {
      const from = this.#failuresTo.get(to) ?? new Set();
      this.#failuresTo.set(to, from.add(name));
    }
    return to !== null || before !== undefined;
  }

  /** Forgets what lines are drawn from, after anything but places has changed. */
  forgetViews(): void {
    this.#views.clear();
    this.#labelled.clear();
    this.#edges = null;
    this.#rects = null;
    this.#before = null;
  }

  /** Makes all lines again; after nothing but places has changed, takes them as they were if the cards are back there. */
  rebuild(moved = false): void {
    const { rects } = this.#cards;
    const before = moved ? this.#before : null;
    const [tree, items, lines] = [this.#tree, this.#items, this.#lines];
    this.#before = moved && this.#rects && tree ? { rects: this.#rects, tree, items, lines } : null;
    this.#rects = rects;
    if (before && samePlaces(before.rects, rects)) {
      this.#fans.clear();
      this.#tree = before.tree;
      this.#items = before.items;
      this.#lines = before.lines;
      return;
    }
    this.#items = new Map();
    this.#lines = new Map();
    this.#fans.clear();
    this.#tree = null;
    this.#edges ??= this.#readEdges();
    for (const edge of this.#edges) this.#takeLines(edge);
    const all = new Set(this.#edges);
    this.#applyWays(all);
    this.#tree = new RBush<LineItem>().load([...this.#items.values()].flat());
    this.#applyLabels(all);
  }

  #readEdges(): string[] {
    this.#failuresTo.clear();
    const failures = this.#doc
      .names("node")
      .filter((name) => errorWayOf(this.#doc.get(`node:${name}`)) !== null && this.noteError(name));
    return [...this.#doc.names("edge"), ...failures.map(errorEdge)];
  }

  #takeLines(edge: string): void {
    const own = this.#makeLines(edge);
    this.#items.set(edge, own);
    for (const item of own) {
      this.#tree?.insert(item);
      this.#lines.set(item.line.id, item.line);
    }
  }

  /** Makes the lines of these edges again, and of those that share a port with them: their fans depend on each other. */
  place(edges: ReadonlySet<string>): void {
    const all = new Set(edges);
    this.#fans.clear();
    for (const edge of edges) {
      const before = this.#items.get(edge)?.flatMap((item) => [item.line.from, item.line.to]) ?? [];
      const view = this.#viewOf(edge);
      for (const node of new Set([...before, ...(view?.sources ?? []), ...(view?.targets ?? [])])) {
        // A hub's edges are not all made again for one of them: beyond this many, fans are out of sight anyway.
        const neighbours = this.edgesOf(node);
        if (neighbours.length <= MAX_FAN) for (const neighbour of neighbours) all.add(neighbour);
      }
    }
    for (const edge of all) {
      for (const item of this.#items.get(edge) ?? []) {
        this.#tree?.remove(item);
        this.#lines.delete(item.line.id);
      }
      if (this.#viewOf(edge)) this.#takeLines(edge);
      else this.#items.delete(edge);
    }
    this.#applyWays(all);
    this.#applyLabels(all);
    this.#rects = this.#cards.rects;
  }

  #viewOf(edge: string): LineView | null {
    let view = this.#views.get(edge);
    if (view === undefined) {
      view = this.#readView(edge);
      this.#views.set(edge, view);
    }
    return view;
  }

  #readView(edge: string): LineView | null {
    const record = this.#doc.get(`edge:${edge}`);
    if (record !== undefined) return edgeOf(record);
    const from = errorNode(this.#doc, edge);
    const to = errorTarget(this.#doc, edge);
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
      const from = this.#cards.rect(path.from);
      const to = this.#cards.rect(path.to);
      const [tail, head] = [this.#cards.shown(path.from), this.#cards.shown(path.to)];
      // Within a folded frame nothing is drawn; what crosses its border ends at its card, without a port of its own.
      const [within, into] = [tail !== path.from, head !== path.to];
      if (!from || !to || (tail === head && (within || into))) continue;
      const label = within ? null : labelOf(view.form, path, view.expression);
      const { fan, lead, beside } = within ? NO_FAN : fanOf(path);
      const ported = !within && (view.form === "route" || view.form === "error");
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
        isDefault: (view.form === "route" && path.label === null) || view.form === "limit",
        caption:
          !within && view.form === "route" && !port && fan === highest ? (view.expression ?? "") : null,
        fan,
        lead,
        beside: beside && port === null ? { x: 0, y: 0, width, apart: false } : null,
        join: view.form === "join" && !into ? this.#joinOffset(edge, path.to) : null,
        back,
        bound: back && !into ? boundOf(this.#doc.get(`node:${path.to}`)) : null,
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
    const ports = allPorts(this.#cards.ports(node));
    const index = ports.findIndex((port) => port.edge === edge && port.part === part);
    const port = ports[index];
    return port ? { id: port.id, y: portRowY(this.#cards.bodyOf(node), index) } : null;
  }

  /** The place of a line in the fan of its source: labelled lines are spread, all plain ones share one place. */
  #fanOf(source: string, id: string, labelled: boolean): Fan {
    if (!this.#isLabelled(source)) return NO_FAN;
    let fans = this.#fans.get(source);
    if (fans === undefined) {
      fans = fansOf(
        source,
        this.#leaving(source),
        this.#drawn,
        this.#cards.ports(source).ports.length > 0,
        this.#cards.standingIn,
      );
      this.#fans.set(source, fans);
    }
    return fans.get(labelled ? id : "") ?? NO_FAN;
  }

  #leaving(source: string): Leaving[] {
    return this.#doc.edgesFrom(source).flatMap((edge) => {
      const view = this.#viewOf(edge);
      return view ? [{ edge, view }] : [];
    });
  }

  #isLabelled(source: string): boolean {
    let labelled = this.#labelled.get(source);
    if (labelled === undefined) {
      labelled = this.#leaving(source).some(({ view: { form, paths, expression } }) =>
        paths.some((path) => labelOf(form, path, expression) !== null),
      );
      this.#labelled.set(source, labelled);
    }
    return labelled;
  }

  /** Several joins into one node get a mark each. */
  #joinOffset(edge: string, to: string): number {
    const joins = this.#doc
      .edgesTo(to)
      .filter((other) => edgeOf(this.#doc.get(`edge:${other}`)).form === "join");
    return (joins.indexOf(edge) - (joins.length - 1) / 2) * 24;
  }

  /** Finds the ways of lines once all rectangles are known: lanes of those that go round, passes of the others. */
  #applyWays(changed: ReadonlySet<string>): void {
    this.#applyLanes(changed);
    this.#applyPasses(changed);
  }

  #applyLanes(changed: ReadonlySet<string>): void {
    const all = [...this.#lines.values()].filter(({ back }) => back);
    // They depend on each other; in a large graph only those that changed move.
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    const loops = lines.flatMap((line): Loop[] => {
      const from = this.#cards.rect(line.from);
      const to = this.#cards.rect(line.to);
      return from && to ? [loopOf(line, from, to)] : [];
    });
    const lanes = lanesOf(loops, this.#cards.standingIn);
    this.#replaceLines(lines, (line) => lanes.get(line.id) ?? {});
  }

  /** Leads lines to the right past cards, as long as there are not too many to look at. */
  #applyPasses(changed: ReadonlySet<string>): void {
    const all = [...this.#lines.values()].filter(({ back }) => !back);
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    if (lines.length > MAX_PASSES) return;
    const forward = lines.flatMap((line): Forward[] => {
      const from = this.#cards.rect(line.from);
      const to = this.#cards.rect(line.to);
      return from && to ? [forwardOf(line, from, to)] : [];
    });
    const passes = passesOf(forward, this.#cards.standingIn);
    this.#replaceLines(lines, (line) => ({ pass: passes.get(line.id) ?? null }));
  }

  /** Finds room for the labels that have none behind their port, once every line has its way. */
  #applyLabels(changed: ReadonlySet<string>): void {
    const all = [...this.#lines.values()].filter((line) => line.beside !== null);
    const lines = all.length <= MAX_LOOPS ? all : all.filter((line) => changed.has(line.edge));
    if (lines.length === 0) return;
    const near = lines.length > MAX_LOOPS ? this.#lines.values() : this.#linesNear(lines);
    const places = besidesOf(lines, near, this.#drawn, this.#cards.standingIn);
    this.#replaceLines(lines, (line) => ({ beside: places.get(line.id) ?? line.beside }));
  }

  /** Lines whose labels might lie where those of these could be. */
  #linesNear(lines: readonly Line[]): Set<Line> {
    const near = new Set<Line>();
    for (const edge of new Set(lines.map((line) => line.edge)))
      for (const item of this.#items.get(edge) ?? [])
        for (const other of this.#search(grown(item, LABEL_REACH))) near.add(other);
    return near;
  }

  /** Gives lines another way. */
  #replaceLines(lines: readonly Line[], way: (line: Line) => Partial<Line>): void {
    for (const edge of new Set(lines.map((line) => line.edge))) {
      const next = (this.#items.get(edge) ?? []).map((item) => {
        const from = this.#cards.rect(item.line.from);
        const to = this.#cards.rect(item.line.to);
        if (!from || !to) return item;
        const line = { ...item.line, ...way(item.line) };
        if (sameWay(line, item.line)) return item;
        this.#tree?.remove(item);
        const lined = boxed(line, from, to);
        this.#tree?.insert(lined);
        this.#lines.set(lined.line.id, lined.line);
        return lined;
      });
      this.#items.set(edge, next);
    }
  }
}

function samePlaces(a: ReadonlyMap<string, Rect>, b: ReadonlyMap<string, Rect>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, rect] of a) {
    const other = b.get(name);
    if (
      other?.x !== rect.x ||
      other.y !== rect.y ||
      other.width !== rect.width ||
      other.height !== rect.height
    )
      return false;
  }
  return true;
}
