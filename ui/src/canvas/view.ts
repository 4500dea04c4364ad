/** Where the view is: told by React Flow at every move, heard by layers that draw themselves. */
import { useSyncExternalStore } from "react";
import type { Point } from "../document/edits";
import type { Size, Viewport } from "./window";

export class ViewHub {
  viewport: Viewport = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  #listeners = new Set<() => void>();
  /** Moves the view; given by the canvas. */
  move: (viewport: Viewport, millis?: number) => void = () => {};

  set(viewport: Viewport, size: Size): void {
    const { viewport: before } = this;
    if (
      before.x === viewport.x &&
      before.y === viewport.y &&
      before.zoom === viewport.zoom &&
      this.size.width === size.width &&
      this.size.height === size.height
    ) {
      return;
    }
    this.viewport = viewport;
    this.size = size;
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Puts a point of the graph into the middle of the view. */
  centre(point: Point, zoom = this.viewport.zoom, millis = 0): void {
    this.move(
      { x: this.size.width / 2 - point.x * zoom, y: this.size.height / 2 - point.y * zoom, zoom },
      millis,
    );
  }

  /** The point of the graph in the middle of the view. */
  middle(): Point {
    const { x, y, zoom } = this.viewport;
    return { x: (this.size.width / 2 - x) / zoom, y: (this.size.height / 2 - y) / zoom };
  }
}

export function useView<T>(hub: ViewHub, select: (hub: ViewHub) => T): T {
  return useSyncExternalStore(
    (listener) => hub.subscribe(listener),
    () => select(hub),
  );
}
