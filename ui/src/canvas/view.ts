/** Where the view is: reported by React Flow at every move, followed by layers that draw themselves. */
import { useSyncExternalStore } from "react";
import type { Point } from "../document/edits";
import { intersects, type Rect } from "./geometry";
import type { Size, Viewport } from "./viewport";

/** The view for a size of the canvas; null when there is nothing to show. */
export type Fit = (size: Size) => Viewport | null;

/** Stands for the size of a canvas that has not been measured. */
const UNMEASURED: Size = { width: 800, height: 600 };

export class ViewHub {
  viewport: Viewport = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  #listeners = new Set<() => void>();
  #fit: Fit | null = null;
  #opening: Fit | null = null;
  /** Instead of fitting, when a panel that is to open has made the canvas smaller. */
  #onSmaller: (() => void) | null = null;
  /** Puts the view somewhere; given by the canvas. */
  place: (viewport: Viewport, millis?: number) => void = () => {};

  /** True while the view is one that was fitted and has not been moved since. */
  get fitted(): boolean {
    return this.#fit !== null;
  }

  /** A graph was opened: it is shown so as soon as the canvas can. What is added before goes where it will be seen. */
  open(how: Fit): void {
    this.#opening = how;
  }

  /** The view that is shown, or is about to be when a graph has just been opened. */
  get next(): Viewport {
    return this.#opening?.(this.size.width > 0 ? this.size : UNMEASURED) ?? this.viewport;
  }

  /** Takes what React Flow reports. A fitted view is fitted again when the canvas has another size. */
  set(viewport: Viewport, size: Size): void {
    const { viewport: before, size: sizeBefore } = this;
    const resized = sizeBefore.width !== size.width || sizeBefore.height !== size.height;
    if (before.x === viewport.x && before.y === viewport.y && before.zoom === viewport.zoom && !resized) {
      return;
    }
    this.viewport = viewport;
    this.size = size;
    for (const listener of [...this.#listeners]) listener();
    if (!resized) return;
    const show = size.width < sizeBefore.width ? this.#onSmaller : null;
    if (show) {
      this.#onSmaller = null;
      show();
    } else if (this.#fit) this.fit(this.#fit);
  }

  /** Shows what is asked for, until the view is moved. */
  fit(how: Fit, millis?: number): void {
    const viewport = this.size.width > 0 ? how(this.size) : null;
    if (!viewport) return;
    this.#opening = null;
    this.#fit = how;
    this.place(viewport, millis);
  }

  /** Fits a view again that was fitted and has not been moved since: what it shows has another size. */
  refit(): void {
    if (this.#fit) this.fit(this.#fit);
  }

  move(viewport: Viewport, millis?: number): void {
    this.moved();
    this.place(viewport, millis);
  }

  /**
   * Keeps the view where it is when the panel opens that is about to, however long a drag keeps it from doing so; `then` shows
   * what the panel would cover. Null when it does not open any more.
   */
  hold(then: (() => void) | null): void {
    this.#onSmaller = then;
  }

  /** A person has moved the view. */
  moved(): void {
    this.#opening = null;
    this.#fit = null;
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
    const { x, y, zoom } = this.next;
    const { width, height } = this.size.width > 0 ? this.size : UNMEASURED;
    return { x: (width / 2 - x) / zoom, y: (height / 2 - y) / zoom };
  }

  /** Is some of this part of the graph in view? */
  meets(rect: Rect): boolean {
    const { x, y, zoom } = this.viewport;
    const { width, height } = this.size;
    return intersects(rect, { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom });
  }

  /** Is this part of the graph in view as a whole? */
  shows(rect: Rect): boolean {
    const { x, y, zoom } = this.viewport;
    const [left, top] = [rect.x * zoom + x, rect.y * zoom + y];
    return (
      left >= 0 &&
      top >= 0 &&
      left + rect.width * zoom <= this.size.width &&
      top + rect.height * zoom <= this.size.height
    );
  }
}

export function useView<T>(hub: ViewHub, select: (hub: ViewHub) => T): T {
  return useSyncExternalStore(
    (listener) => hub.subscribe(listener),
    () => select(hub),
  );
}
