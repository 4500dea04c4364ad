/**
 * Patches: the only way a document changes. The same rules as in `crates/document/src/patch.rs`, and both run the
 * fixtures in `tests/patches`: an op is refused unless the record is what `from` says, null means absent, and an applied
 * patch has every place filled in so that it can be turned round exactly.
 */
import type { PatchOp } from "../ipc/bindings/PatchOp";
import type { Json } from "./types";

export type { PatchOp };

export interface Patch {
  readonly ops: readonly PatchOp[];
}

/** Why a patch was refused; the document is as it was. */
export class PatchError extends Error {
  readonly code: "conflict" | "unknown-record" | "bad-head" | "blocked";
  readonly record: string;

  constructor(code: PatchError["code"], record: string, message: string) {
    super(message);
    this.name = "PatchError";
    this.code = code;
    this.record = record;
  }
}

export function op(id: string, from: Json | undefined, to: Json | undefined, at?: number): PatchOp {
  return { id, from: from ?? null, to: to ?? null, ...(at === undefined ? {} : { at }) };
}

export function reversed(patch: Patch): Patch {
  return {
    ops: patch.ops
      .map(
        ({ id, from, to, at }) =>
          ({ id, from: to, to: from, ...(at === undefined ? {} : { at }) }) as PatchOp,
      )
      .reverse(),
  };
}

/** Equality of JSON: objects without regard to the order of members. Shared references make it cheap. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

/**
 * `first` and then `second` as one patch. Later changes of a record are folded into the op that set it, which is what
 * makes a minute of typing one small step; ops that move places are kept in their order.
 */
export function joined(first: Patch, second: Patch): Patch {
  const ops: PatchOp[] = [...first.ops];
  const last = new Map<string, number>();
  ops.forEach((each, index) => last.set(each.id, index));
  for (const next of second.ops) {
    const index = last.get(next.id);
    const previous = index === undefined ? undefined : ops[index];
    if (index !== undefined && previous && previous.to !== null && next.from !== null && next.to !== null) {
      ops[index] = { ...previous, to: next.to };
    } else {
      last.set(next.id, ops.length);
      ops.push(next);
    }
  }
  return { ops: ops.filter((each) => each.from === null || each.to === null || !same(each.from, each.to)) };
}
