/** What others may ask of the canvas. It answers when it is on screen and does nothing otherwise. */
import type { Point } from "../document/edits";
import type { Json, JsonObject } from "../document/types";

export interface CanvasActions {
  /** Adds a node of a kind at a point of the screen, or where the view is. Answers its name. */
  addNodeAt(kind: string, screenPoint?: Point, config?: JsonObject): string | null;
  /** Adds the nodes of a graph, where there is room. */
  addGraph(
    name: string,
    records: readonly { readonly id: string; readonly value: Json }[],
    as?: "pattern" | "block",
  ): void;
  /** Selects a node and brings it into view. */
  focusNode(name: string): void;
  focusEdge(id: string): void;
  /** Brings a node into view, and selects nothing. */
  showNode(name: string): void;
  /** Opens the search for where a wire of a node goes. */
  connectFrom(name: string): void;
  /** A kind is being dragged over the window; null point ends it. The canvas shows where it would land. */
  dragKind(kind: string, screenPoint: Point | null): void;
  /** Is this point of the screen on the canvas? */
  contains(screenPoint: Point): boolean;
}

let current: CanvasActions | null = null;

export function provideCanvas(actions: CanvasActions): () => void {
  current = actions;
  return () => {
    if (current === actions) current = null;
  };
}

export const addNodeAt: CanvasActions["addNodeAt"] = (kind, screenPoint, config) =>
  current?.addNodeAt(kind, screenPoint, config) ?? null;
export const addGraph: CanvasActions["addGraph"] = (name, records, as) =>
  current?.addGraph(name, records, as);
export const focusNode = (name: string): void => current?.focusNode(name);
export const focusEdge = (id: string): void => current?.focusEdge(id);
export const showNode = (name: string): void => current?.showNode(name);
export const connectFrom = (name: string): void => current?.connectFrom(name);
export const dragKind = (kind: string, screenPoint: Point | null): void =>
  current?.dragKind(kind, screenPoint);
export const overCanvas = (screenPoint: Point): boolean => current?.contains(screenPoint) ?? false;
