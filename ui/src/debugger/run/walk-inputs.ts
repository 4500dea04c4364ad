/**
 * A walk through earlier inputs: where it is, and what was typed at each place, so that nothing is lost on the way. Place 0
 * is what was in the field before; 1 the newest earlier input.
 */
import type { KeyboardEvent } from "react";
import { sameJson } from "../parts/diff";

export class InputWalk<T> {
  #at = 0;
  #typed: T | undefined;
  readonly #found: T[] = [];
  readonly #edited = new Map<number, T>();
  #source: AsyncIterator<T> | null = null;
  #busy = false;
  readonly #listeners = new Set<() => void>();

  constructor(private readonly open: () => AsyncIterator<T>) {}

  get at(): number {
    return this.#at;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #go(to: number): void {
    this.#at = to;
    for (const listener of this.#listeners) listener();
  }

  /** Moves by one; `current` is what is in the field now. Answers what belongs there, or null at either end. */
  async move(by: 1 | -1, current: T): Promise<T | null> {
    const to = this.#at + by;
    if (this.#busy || to < 0) return null;
    this.#busy = true;
    try {
      if (this.#at === 0) {
        this.#typed = current;
        // Read again: something may have been run since.
        this.#source = this.open();
        this.#found.length = 0;
        this.#edited.clear();
      } else if (!sameJson(current, this.#found[this.#at - 1])) this.#edited.set(this.#at, current);
      if (to > this.#found.length && !(await this.#read(current))) return null;
      this.#go(to);
      return to === 0 ? (this.#typed ?? null) : (this.#edited.get(to) ?? this.#found[to - 1] ?? null);
    } finally {
      this.#busy = false;
    }
  }

  /** The next earlier input that is not what stands there already. */
  async #read(current: T): Promise<boolean> {
    for (;;) {
      const next = await this.#source?.next();
      if (!next || next.done) return false;
      if (this.#found.length === 0 && sameJson(next.value, current)) continue;
      this.#found.push(next.value);
      return true;
    }
  }

  /** What is in the field has been run: the next walk begins from it. */
  end(): void {
    this.#source = null;
    this.#go(0);
  }
}

/**
 * Which way a key leads from a field: up where the text has no line above, down where it has none below. A list, a number
 * and the code editor keep the keys that mean something to them.
 */
export function walkOf(event: KeyboardEvent): 1 | -1 | null {
  const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : null;
  if (by === null || event.defaultPrevented) return null;
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target } = event;
  if (target instanceof HTMLInputElement)
    return target.type === "text" && !target.hasAttribute("role") ? by : null;
  // At its first and last place the editor leaves the key.
  if (target instanceof HTMLElement && target.isContentEditable) return by;
  if (!(target instanceof HTMLTextAreaElement)) return null;
  const { selectionStart: from, selectionEnd: to, value } = target;
  if (from !== to) return null;
  if (isOneLine(target)) return by;
  return by === 1 ? (from === 0 ? 1 : null) : to === value.length ? -1 : null;
}

function isOneLine(area: HTMLTextAreaElement): boolean {
  if (area.value.includes("\n")) return false;
  const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(area);
  const text = area.style.height;
  // What the text needs, not the room that the field has.
  area.style.height = "0";
  const needed = area.scrollHeight;
  area.style.height = text;
  const line = Number.parseFloat(lineHeight);
  return (
    Number.isNaN(line) ||
    needed < Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom) + 1.5 * line
  );
}

/** Puts the caret where the walk goes on with the next key. */
export function caretAfter(field: Element | null, by: 1 | -1): void {
  if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) {
    const at = by === 1 ? 0 : field.value.length;
    field.setSelectionRange(at, at);
  }
}
