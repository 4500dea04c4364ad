/**
 * Undo and redo of document patches, in the manner of tldraw: named steps, marks to bail out of a gesture, and typing
 * into one field as one step. Selection, viewport and run data never come here. It knows no document: it hands out
 * patches for someone to apply.
 */
import { joined, reversed, type Patch, type PatchOp } from "./patch";

export interface Step {
  readonly name: string;
  readonly patch: Patch;
  readonly merge: string | null;
  readonly at: number;
  readonly bytes: number;
}

/** A step as it is kept between two openings of a graph. */
interface KeptStep {
  readonly name: string;
  readonly ops: readonly PatchOp[];
}

const KEPT = { steps: 500, bytes: 5 * 1024 * 1024 };

function isKeptStep(value: unknown): value is KeptStep {
  if (typeof value !== "object" || value === null || !("name" in value) || !("ops" in value)) return false;
  return (
    typeof value.name === "string" &&
    Array.isArray(value.ops) &&
    value.ops.every(
      (op: unknown) => typeof op === "object" && op !== null && "id" in op && typeof op.id === "string",
    )
  );
}

export interface HistoryLimits {
  readonly steps: number;
  readonly bytes: number;
  /** Edits with the same merge key join while no pause is longer than this. */
  readonly mergeMillis: number;
}

const LIMITS: HistoryLimits = { steps: 1000, bytes: 32 * 1024 * 1024, mergeMillis: 2500 };

export type Mark = number & { readonly mark: unique symbol };

export class History {
  #undo: Step[] = [];
  #redo: Step[] = [];
  #bytes = 0;
  /** Counts every step ever recorded, so that a mark stays true when old steps fall out. */
  #count = 0;
  readonly #limits: HistoryLimits;
  readonly #now: () => number;

  constructor(limits: Partial<HistoryLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...LIMITS, ...limits };
    this.#now = now;
  }

  /** Name of the step that undo would take back. */
  get undoName(): string | null {
    return this.#undo.at(-1)?.name ?? null;
  }

  get redoName(): string | null {
    return this.#redo.at(-1)?.name ?? null;
  }

  /** Names of the steps that can be taken back, the newest first, and of those that can be done again, the next first. */
  get steps(): { readonly undo: readonly string[]; readonly redo: readonly string[] } {
    const names = (steps: readonly Step[]) => steps.map((step) => step.name).toReversed();
    return { undo: names(this.#undo), redo: names(this.#redo) };
  }

  get isEmpty(): boolean {
    return this.#undo.length === 0 && this.#redo.length === 0;
  }

  /** The newest steps, as plain values that `load` reads: the number and size that are kept when a graph is closed. */
  kept(): { undo: KeptStep[]; redo: KeptStep[] } {
    let { steps, bytes } = KEPT;
    const newest = (list: readonly Step[]) => {
      const taken: KeptStep[] = [];
      for (const { name, patch } of list.toReversed()) {
        const weight = JSON.stringify(patch.ops).length;
        if (steps < 1 || weight > bytes) break;
        steps -= 1;
        bytes -= weight;
        taken.unshift({ name, ops: patch.ops });
      }
      return taken;
    };
    return { undo: newest(this.#undo), redo: newest(this.#redo) };
  }

  /** Takes steps that were kept. What is no step ends the list: the ones before it would not fit without it. */
  load(kept: unknown): void {
    const read = (list: unknown): Step[] => {
      const steps: Step[] = [];
      for (const each of Array.isArray(list) ? list.toReversed() : []) {
        if (!isKeptStep(each)) break;
        const patch = { ops: each.ops };
        steps.unshift({ name: each.name, patch, merge: null, at: 0, bytes: bytesOf(patch) });
      }
      return steps;
    };
    this.clear();
    if (typeof kept !== "object" || kept === null) return;
    for (const step of read("undo" in kept ? kept.undo : null)) this.#push(step);
    this.#redo = read("redo" in kept ? kept.redo : null);
  }

  get length(): number {
    return this.#undo.length;
  }

  /** Notes a patch that was applied. */
  record(name: string, patch: Patch, merge: string | null = null): void {
    if (patch.ops.length === 0) return;
    this.#redo = [];
    const at = this.#now();
    const last = this.#undo.at(-1);
    if (last && merge !== null && last.merge === merge && at - last.at <= this.#limits.mergeMillis) {
      const whole = joined(last.patch, patch);
      this.#pop();
      // Typed and typed back: nothing is left to undo.
      if (whole.ops.length > 0) this.#push({ name, patch: whole, merge, at, bytes: bytesOf(whole) });
      return;
    }
    this.#push({ name, patch, merge, at, bytes: bytesOf(patch) });
  }

  /** Ends the merging of edits: the next one is a step of its own (a field lost the focus). */
  seal(): void {
    const last = this.#undo.at(-1);
    if (last?.merge) this.#undo[this.#undo.length - 1] = { ...last, merge: null };
  }

  /** The patch that takes the last step back, already moved to the redo side. */
  undo(): { name: string; patch: Patch } | null {
    const step = this.#pop();
    if (!step) return null;
    this.#redo.push(step);
    return { name: step.name, patch: reversed(step.patch) };
  }

  redo(): { name: string; patch: Patch } | null {
    const step = this.#redo.pop();
    if (!step) return null;
    this.#push({ ...step, merge: null });
    return { name: step.name, patch: step.patch };
  }

  /** Forgets the step that was handed out last: its patch did not apply. */
  drop(how: "undone" | "redone"): void {
    if (how === "undone") this.#redo.pop();
    else this.#pop();
  }

  /** A place to come back to with `bail`. */
  mark(): Mark {
    this.seal();
    return this.#count as Mark;
  }

  /** The patch that takes back everything since the mark; nothing of it can be redone. Null when nothing was done. */
  bail(mark: Mark): Patch | null {
    const ops: PatchOp[] = [];
    while (this.#count > mark && this.#undo.length > 0) {
      const step = this.#pop();
      if (step) ops.push(...reversed(step.patch).ops);
    }
    return ops.length > 0 ? { ops } : null;
  }

  /** Makes one step of everything since the mark. */
  squash(mark: Mark, name: string): void {
    const steps: Step[] = [];
    while (this.#count > mark && this.#undo.length > 0) {
      const step = this.#pop();
      if (step) steps.unshift(step);
    }
    const first = steps[0];
    if (!first) return;
    const patch = steps.slice(1).reduce((whole, step) => joined(whole, step.patch), first.patch);
    if (patch.ops.length > 0)
      this.#push({ name, patch, merge: null, at: this.#now(), bytes: bytesOf(patch) });
  }

  clear(): void {
    this.#undo = [];
    this.#redo = [];
    this.#bytes = 0;
    this.#count = 0;
  }

  #push(step: Step): void {
    this.#undo.push(step);
    this.#bytes += step.bytes;
    this.#count += 1;
    while (
      this.#undo.length > 1 &&
      (this.#undo.length > this.#limits.steps || this.#bytes > this.#limits.bytes)
    ) {
      this.#bytes -= this.#undo.shift()?.bytes ?? 0;
    }
  }

  #pop(): Step | undefined {
    const step = this.#undo.pop();
    if (step) {
      this.#bytes -= step.bytes;
      this.#count -= 1;
    }
    return step;
  }
}

/** Roughly what a patch weighs. Values are shared with the document, so this is an upper bound. */
function bytesOf(patch: Patch): number {
  let bytes = 0;
  const walk = (value: unknown): void => {
    if (typeof value === "string") bytes += value.length * 2 + 16;
    else if (Array.isArray(value)) value.forEach(walk);
    else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        bytes += key.length * 2 + 16;
        walk(item);
      }
    } else bytes += 8;
  };
  for (const each of patch.ops) {
    bytes += 64;
    walk(each.from);
    walk(each.to);
  }
  return bytes;
}
