/**
 * Edits of the state that are collected before they are applied at once: what was changed against which moment, and how
 * each key joins what is there. A value edited in place means "this is what it shall be", so a key with a reducer is
 * replaced unless the user says that the edit is an update for the reducer.
 */
import { create } from "zustand";
import { appendedCount, isObject, sameJson, withValueAt } from "../parts/diff";

type EditMode = "replace" | "reduce";

export interface KeyEdit {
  readonly base: unknown;
  /** The value it shall be. */
  readonly value: unknown;
  /** What the reducer is given instead, in mode `reduce`. */
  readonly update: unknown;
  readonly mode: EditMode;
}

export interface PendingEdits {
  readonly threadId: string;
  readonly checkpointId: string | null;
  readonly keys: Readonly<Record<string, KeyEdit>>;
  /** undefined: the node that ran last. */
  readonly asNode: string | undefined;
}

const REPLACING = new Set(["overwrite", "ephemeral", "any", "topic", "untracked"]);

export const hasReducer = (reducer: string): boolean => !REPLACING.has(reducer);

/** What the reducer would have to be given so that the value becomes `value`; the value itself where that is unknown. */
export function asUpdate(reducer: string, base: unknown, value: unknown): unknown {
  switch (reducer) {
    case "append": {
      const count = appendedCount(base ?? [], value);
      return count !== undefined && Array.isArray(value) ? value.slice(value.length - count) : value;
    }
    case "union":
    case "add_messages": {
      if (!Array.isArray(value)) return value;
      const before = Array.isArray(base) ? base : [];
      return value.filter((item) => !before.some((old) => sameJson(old, item)));
    }
    case "add":
      return typeof value === "number" && (typeof base === "number" || base === undefined)
        ? value - ((base as number | undefined) ?? 0)
        : value;
    case "merge": {
      if (!isObject(value)) return value;
      const before = isObject(base) ? base : {};
      return Object.fromEntries(Object.entries(value).filter(([key, item]) => !sameJson(before[key], item)));
    }
    default:
      return value;
  }
}

/** The request's part of the edits: values, and the keys that replace rather than go through their reducer. */
export function toUpdate(
  edits: PendingEdits,
  reducers: Readonly<Record<string, string>>,
): { values: Record<string, unknown>; overwrite: string[] } {
  const values: Record<string, unknown> = {};
  const overwrite: string[] = [];
  for (const [key, edit] of Object.entries(edits.keys)) {
    values[key] = edit.mode === "reduce" ? edit.update : edit.value;
    if (edit.mode === "replace" && hasReducer(reducers[key] ?? "overwrite")) overwrite.push(key);
  }
  return { values, overwrite };
}

interface EditsStore {
  readonly pending: PendingEdits | null;
  /** Sets the value at a pointer inside a key; the edit goes away when it is again what it was. */
  edit(
    place: { threadId: string; checkpointId: string | null },
    key: string,
    base: unknown,
    pointer: string,
    value: unknown,
  ): void;
  setMode(key: string, mode: EditMode, reducer: string): void;
  setUpdate(key: string, update: unknown): void;
  revert(key: string): void;
  setAsNode(node: string | undefined): void;
  clear(): void;
}

export const useEdits = create<EditsStore>()((set) => ({
  pending: null,
  edit: (place, key, base, pointer, value) =>
    set(({ pending }) => {
      // Edits belong to one moment. Moving the cursor does not lose them; editing elsewhere starts over.
      const same = pending?.threadId === place.threadId && pending.checkpointId === place.checkpointId;
      const current: PendingEdits = same ? pending : { ...place, keys: {}, asNode: undefined };
      const old = current.keys[key];
      const from = old ? old.value : base;
      const changed = withValueAt(from, pointer, value);
      const keys = { ...current.keys };
      if (sameJson(changed, base)) delete keys[key];
      else keys[key] = { base, value: changed, update: undefined, mode: "replace" };
      return { pending: Object.keys(keys).length === 0 ? null : { ...current, keys } };
    }),
  setMode: (key, mode, reducer) =>
    set(({ pending }) => {
      const edit = pending?.keys[key];
      if (!pending || !edit || edit.mode === mode) return {};
      const update = mode === "reduce" ? asUpdate(reducer, edit.base, edit.value) : undefined;
      return { pending: { ...pending, keys: { ...pending.keys, [key]: { ...edit, update, mode } } } };
    }),
  setUpdate: (key, update) =>
    set(({ pending }) => {
      const edit = pending?.keys[key];
      if (!pending || !edit) return {};
      return { pending: { ...pending, keys: { ...pending.keys, [key]: { ...edit, update } } } };
    }),
  revert: (key) =>
    set(({ pending }) => {
      if (!pending || !(key in pending.keys)) return {};
      const keys = { ...pending.keys };
      delete keys[key];
      return { pending: Object.keys(keys).length === 0 ? null : { ...pending, keys } };
    }),
  setAsNode: (node) => set(({ pending }) => (pending ? { pending: { ...pending, asNode: node } } : {})),
  clear: () => set({ pending: null }),
}));
