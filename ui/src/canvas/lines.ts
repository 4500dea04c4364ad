/** One line of the canvas: what it is drawn from, and what stands on it. Made by the scene, read by the drawings. */
import type { Point } from "../document/edits";
import { END, isObject, START, type EdgeForm, type EdgePath, type Json } from "../document/types";
import { t } from "../lib/texts";
import type { Rect } from "./geometry";
import type { Place } from "./wire-labels";
import type { Pass } from "./wire-passes";

/** Forms of edges, and the way of a failure, which is a setting of its node. */
export type LineForm = EdgeForm | "error";

/** What a line is drawn from: an edge, or what a node says about its failure. */
export interface LineView {
  readonly form: LineForm;
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly paths: readonly EdgePath[];
  readonly expression?: string;
}

/** One line on the canvas: an edge, or one path of a route, or one source of a join, or the way of a failure. */
export interface Line {
  /** `EDGE` or `EDGE|PART`; also React Flow's id. */
  readonly id: string;
  readonly edge: string;
  readonly part: string;
  /** The named port that it leaves, and where that is from the top of its card; null for the plain one. */
  readonly port: string | null;
  readonly portY: number;
  readonly form: LineForm;
  readonly from: string;
  readonly to: string;
  /** Text of the label; null for none. */
  readonly label: string | null;
  readonly labelWidth: number;
  /** A route's path for everything else. */
  readonly isDefault: boolean;
  /** The route's expression, on the topmost of its lines only. */
  readonly caption: string | null;
  /** Vertical place of the line among those that leave the same port, relative to it. */
  readonly fan: number;
  /** Widest label in the fan, so that the labels of one node end together. */
  readonly lead: number;
  /** Left end and middle height of its label from the port, where the label has no room behind it; null for others. */
  readonly beside: Place | null;
  /** Where the join mark is, relative to the port; null for other lines. */
  readonly join: number | null;
  /** It leads to the left of where it begins, or onto itself, and goes round. */
  readonly back: boolean;
  /** How often a run may come to its target, on a line that leads back to it; null without a bound. */
  readonly bound: number | null;
  /** Height of the lane of a line that goes round. */
  readonly lane: number | null;
  /** Where a line to the right passes cards that stand in its way; null when none does. */
  readonly pass: Pass | null;
  /** Keep lines that go round apart: before their target, and behind their source. */
  readonly inset: number;
  readonly outset: number;
}

/** How far its labels lead a line away from its port: not at all where they stand beside it. */
export function leadOf(line: Line): { readonly label: number; readonly lead: number; readonly fan: number } {
  const { labelWidth: label, lead, fan } = line;
  return line.beside === null ? { label, lead, fan } : { label: 0, lead: 0, fan: 0 };
}

/** Where a line begins. */
export function startOf(line: Pick<Line, "portY">, from: Rect): Point {
  return { x: from.x + from.width, y: from.y + line.portY };
}

/** Its id, which is also React Flow's. */
export function lineId(edge: string, part: string): string {
  return part === "" ? edge : `${edge}|${part}`;
}

/**
 * What a line says about runs: always followed, only perhaps, once for each item, when all are done, or on a failure.
 * Ways without an edge are jumps (`document/named`).
 */
export type Meaning = "fixed" | "possible" | "each" | "join" | "error";

export function meaningOf(form: LineForm): Meaning {
  if (form === "plain") return "fixed";
  return form === "route" || form === "when" || form === "limit" ? "possible" : form;
}

/** Half the height of an arrow head, and its length. */
const HEAD_Y = 4.5;
const HEAD_X = 8;

/** The arrow head of a line that ends at a point. */
export const headPath = ({ x, y }: Point): string => `M${x},${y} l-${HEAD_X},-${HEAD_Y} v${2 * HEAD_Y} z`;

/** How often a thread may come to a node after an input; null when nothing bounds it. */
export function boundOf(record: Json | undefined): number | null {
  const most = isObject(record) ? record["max_visits"] : undefined;
  return typeof most === "number" ? most : null;
}

/** A place of the graph, in words. */
const placeText = (name: string): string =>
  name === START ? t("forms.start") : name === END ? t("forms.end") : name;

/** What screen readers say of a line, or of a way without one. */
export function nameOfLine({ form, from, to }: { form?: LineForm; from: string; to: string }): string {
  const ends = { from: placeText(from), to: placeText(to) };
  return t(form === "error" ? "canvas.announce.error" : "canvas.announce.edge", ends);
}

/** What stands on a line. */
export function labelOf(form: LineForm, path: EdgePath, expression: string | undefined): string | null {
  if (form === "route") return path.label ?? "";
  if (form === "when" || form === "each") return expression ?? "";
  return form === "limit" ? "" : null;
}

/** The words of a label, as drawn. */
export function shownLabel(form: LineForm, isDefault: boolean, label: string): string {
  if (form === "limit") return t("canvas.line.limit");
  if (isDefault) return t("canvas.line.else");
  if (form === "each") return t("canvas.line.each", { items: label });
  return label;
}

/** Does it go the same way? */
export function sameWay(a: Line, b: Line): boolean {
  const pass = a.pass?.y === b.pass?.y && a.pass?.left === b.pass?.left && a.pass?.right === b.pass?.right;
  const [here, there] = [a.beside, b.beside];
  const label = here?.x === there?.x && here?.y === there?.y && here?.width === there?.width;
  return pass && label && a.lane === b.lane && a.inset === b.inset && a.outset === b.outset;
}
