/**
 * How differences are shown: word diffs of text, what an array gained, a small structural diff of two JSON values that
 * are both here. Deep comparison of whole checkpoints is the workbench's work; this only renders what came over.
 */
import type { Difference } from "../../ipc/bindings/Difference";

export interface Piece {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Beyond this many words per side the table would cost more than it shows; ends are compared and the middle replaced. */
const MAX_CELLS = 4_000_000;

const WORDS = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

const tokens = (text: string): string[] => text.match(WORDS) ?? [];

/** Words that were removed and added on the way from `before` to `after`. */
export function wordDiff(before: string, after: string): Piece[] {
  if (before === after) return before === "" ? [] : [{ kind: "same", text: before }];
  const left = tokens(before);
  const right = tokens(after);

  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  ) {
    end += 1;
  }

  const pieces: Piece[] = [];
  const push = (kind: Piece["kind"], text: string) => {
    if (text === "") return;
    const last = pieces.at(-1);
    if (last && last.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text };
    else pieces.push({ kind, text });
  };

  push("same", left.slice(0, start).join(""));
  const a = left.slice(start, left.length - end);
  const b = right.slice(start, right.length - end);
  if (a.length * b.length > MAX_CELLS) {
    push("removed", a.join(""));
    push("added", b.join(""));
  } else {
    for (const piece of longestCommon(a, b)) push(piece.kind, piece.text);
  }
  push("same", left.slice(left.length - end).join(""));
  return pieces;
}

/** How much of two texts is the same, from 0 to 1. Below a third, a word diff is harder to read than both texts. */
export function likeness(pieces: readonly Piece[]): number {
  let same = 0;
  let all = 0;
  for (const { kind, text } of pieces) {
    const length = text.replace(/\s+/g, "").length;
    all += kind === "same" ? 2 * length : length;
    if (kind === "same") same += 2 * length;
  }
  return all === 0 ? 1 : same / all;
}

function longestCommon(a: readonly string[], b: readonly string[]): Piece[] {
  const columns = b.length + 1;
  const table = new Uint32Array((a.length + 1) * columns);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * columns + j] =
        a[i] === b[j]
          ? (table[(i + 1) * columns + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * columns + j] ?? 0, table[i * columns + j + 1] ?? 0);
    }
  }
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      pieces.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if ((table[(i + 1) * columns + j] ?? 0) >= (table[i * columns + j + 1] ?? 0)) {
      pieces.push({ kind: "removed", text: a[i] ?? "" });
      i += 1;
    } else {
      pieces.push({ kind: "added", text: b[j] ?? "" });
      j += 1;
    }
  }
  for (; i < a.length; i += 1) pieces.push({ kind: "removed", text: a[i] ?? "" });
  for (; j < b.length; j += 1) pieces.push({ kind: "added", text: b[j] ?? "" });
  return pieces;
}

/** How many items were added at the end, when nothing before them changed; otherwise undefined. */
export function appendedCount(before: unknown, after: unknown): number | undefined {
  if (!Array.isArray(before) || !Array.isArray(after) || after.length <= before.length) return undefined;
  for (let index = 0; index < before.length; index += 1) {
    if (!sameJson(before[index], after[index])) return undefined;
  }
  return after.length - before.length;
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && sameJson(left[key], right[key]))
  );
}

type NodeChange = "same" | "added" | "removed" | "changed";

export interface PathChange {
  readonly pointer: string;
  readonly change: Exclude<NodeChange, "same">;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Where two JSON values differ, as deep as both sides have the same shape. */
export function changesBetween(before: unknown, after: unknown, base = "", limit = 500): PathChange[] {
  const changes: PathChange[] = [];
  const visit = (left: unknown, right: unknown, pointer: string): void => {
    if (changes.length >= limit || sameJson(left, right)) return;
    if (Array.isArray(left) && Array.isArray(right)) {
      for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
        const at = `${pointer}/${index}`;
        if (index >= left.length) changes.push({ pointer: at, change: "added", after: right[index] });
        else if (index >= right.length) changes.push({ pointer: at, change: "removed", before: left[index] });
        else visit(left[index], right[index], at);
      }
      return;
    }
    if (isObject(left) && isObject(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
        const at = `${pointer}/${escapePointer(key)}`;
        if (!(key in left)) changes.push({ pointer: at, change: "added", after: right[key] });
        else if (!(key in right)) changes.push({ pointer: at, change: "removed", before: left[key] });
        else visit(left[key], right[key], at);
      }
      return;
    }
    changes.push({ pointer, change: "changed", before: left, after: right });
  };
  visit(before, after, base);
  return changes.slice(0, limit);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const escapePointer = (part: string): string => part.replaceAll("~", "~0").replaceAll("/", "~1");
const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

export function pointerParts(pointer: string): string[] {
  return pointer === "" ? [] : pointer.slice(1).split("/").map(unescapePointer);
}

/** `/messages/3/content` as people write it: `messages[3].content`. */
export function readablePath(pointer: string): string {
  return pointerParts(pointer).reduce((path, part) => {
    if (/^\d+$/.test(part)) return `${path}[${part}]`;
    if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(part)) return path === "" ? part : `${path}.${part}`;
    return `${path}[${JSON.stringify(part)}]`;
  }, "");
}

export function valueAt(root: unknown, pointer: string): unknown {
  let at: unknown = root;
  for (const part of pointerParts(pointer)) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (isObject(at)) at = at[part];
    else return undefined;
  }
  return at;
}

/** A copy of `root` with the value at `pointer` replaced; parts that are not on the way keep their identity. */
export function withValueAt(root: unknown, pointer: string, value: unknown): unknown {
  const set = (at: unknown, parts: readonly string[]): unknown => {
    const [part, ...rest] = parts;
    if (part === undefined) return value;
    if (Array.isArray(at)) {
      const copy: unknown[] = [...at];
      copy[Number(part)] = set(copy[Number(part)], rest);
      return copy;
    }
    const source = isObject(at) ? at : {};
    return { ...source, [part]: set(source[part], rest) };
  };
  return set(root, pointerParts(pointer));
}

/** Differences of one state key. */
export interface DifferenceGroup {
  readonly key: string;
  readonly differences: readonly Difference[];
}

export function groupDifferences(differences: readonly Difference[]): DifferenceGroup[] {
  const groups = new Map<string, Difference[]>();
  for (const difference of differences) {
    const key = pointerParts(difference.pointer)[0] ?? "";
    const group = groups.get(key);
    if (group) group.push(difference);
    else groups.set(key, [difference]);
  }
  return [...groups].map(([key, list]) => ({ key, differences: list }));
}

/** The path inside its key, as a JSON Pointer. */
export function insideKey(pointer: string): string {
  const end = pointer.indexOf("/", 1);
  return end < 0 ? "" : pointer.slice(end);
}
