/**
 * The state as rows of one tree: keys with what changed first, under each open key its value, differences and blocks of
 * text. Pure, so that order, search and marks can be tested; the view only draws rows and keeps what is open.
 */
import type { KeyView } from "../../ipc/bindings/KeyView";
import {
  appendedCount,
  changesBetween,
  escapePointer,
  isObject,
  type PathChange,
  readablePath,
} from "../parts/diff";
import type { KeyEdit } from "./edits";
import { kindOf } from "../parts/format";

/** A value that was fetched on demand; arrays and texts may be here only in part. */
export interface LoadedValue {
  readonly value: unknown;
  readonly complete: boolean;
  readonly loading: boolean;
  readonly problem?: string;
}

export type StateRow =
  | {
      readonly type: "key";
      readonly id: string;
      readonly view: KeyView;
      readonly open: boolean;
      readonly edit: KeyEdit | undefined;
      readonly value: unknown;
      readonly here: boolean;
    }
  | {
      readonly type: "node";
      readonly id: string;
      readonly key: string;
      /** JSON Pointer inside the key. */
      readonly pointer: string;
      readonly name: string;
      readonly depth: number;
      readonly value: unknown;
      readonly kind: string;
      readonly children: number;
      readonly open: boolean;
      readonly mark: "added" | "changed" | undefined;
      readonly hit: boolean;
    }
  | {
      readonly type: "text";
      readonly id: string;
      readonly key: string;
      readonly pointer: string;
      readonly depth: number;
      readonly text: string;
    }
  | {
      readonly type: "diff";
      readonly id: string;
      readonly key: string;
      readonly before: string;
      readonly after: string;
    }
  | {
      readonly type: "changes";
      readonly id: string;
      readonly key: string;
      readonly changes: readonly PathChange[];
      readonly cut: boolean;
    }
  | {
      readonly type: "more";
      readonly id: string;
      readonly key: string;
      readonly pointer: string;
      readonly depth: number;
      readonly shown: number;
      readonly total: number;
      readonly remote: boolean;
    }
  /** Keys without a value, in one line. */
  | { readonly type: "unset"; readonly id: string; readonly names: readonly string[]; readonly open: boolean }
  /** What stands before the new items of a list, out of the way until asked for. */
  | { readonly type: "before"; readonly id: string; readonly key: string; readonly count: number }
  | { readonly type: "wait"; readonly id: string; readonly key: string; readonly problem: string | undefined }
  | {
      readonly type: "chat";
      readonly id: string;
      readonly key: string;
      readonly messages: readonly unknown[];
      readonly fresh: number;
    };

export interface TreeState {
  /** Ids of open rows: `/key` and `/key/pointer`. */
  readonly open: ReadonlySet<string>;
  /** Children shown per container when it has more than a page. */
  readonly shown: ReadonlyMap<string, number>;
  readonly loaded: ReadonlyMap<string, LoadedValue>;
  readonly edits: Readonly<Record<string, KeyEdit>>;
  /** Ends of lists that gained items and are too long to be here. */
  readonly tails: ReadonlyMap<string, LoadedValue>;
  /** Lists shown from their beginning although they gained items. */
  readonly fromStart: ReadonlySet<string>;
  /** Keys shown as a conversation. */
  readonly chat: ReadonlySet<string>;
  readonly search: string;
  readonly onlyChanged: boolean;
}

/** The row of keys without a value; open, they have rows of their own. */
const UNSET = "#unset";

/** Children shown at once; the rest is one press away. */
export const PAGE = 100;
/** Strings longer than this open as a block. */
const LONG_TEXT = 60;
const MAX_CHANGES = 30;

const RANK: Record<KeyView["change"], number> = {
  added: 0,
  changed: 0,
  appended: 0,
  moved: 0,
  removed: 1,
  same: 2,
};

/** A list with more items than this that only grew shows what it gained; the rest is one press away. */
const LONG_LIST = 12;

/** How many items a key's list gained, when that is the way to show it. */
export function gained(view: KeyView): number | undefined {
  if (view.change !== "appended" || view.value?.kind !== "array" || view.value.length <= LONG_LIST)
    return undefined;
  return Math.min(PAGE, Math.max(0, view.value.length - (view.previous?.length ?? 0)));
}

/** Changed keys first, otherwise in the order of the declaration. */
export function orderKeys(keys: readonly KeyView[]): KeyView[] {
  return keys
    .map((view, index) => ({ view, index }))
    .sort((a, b) => RANK[a.view.change] - RANK[b.view.change] || a.index - b.index)
    .map(({ view }) => view);
}

/** The value of a key as far as it is here. */
export function hereValue(
  view: KeyView,
  loaded: LoadedValue | undefined,
): { here: boolean; value: unknown; complete: boolean } {
  if (view.value === undefined) return { here: true, value: undefined, complete: true };
  if (view.value.value !== undefined || view.value.kind === "null") {
    return { here: true, value: view.value.value ?? null, complete: true };
  }
  if (loaded && loaded.value !== undefined)
    return { here: true, value: loaded.value, complete: loaded.complete };
  return { here: false, value: undefined, complete: false };
}

export function flattenState(keys: readonly KeyView[], state: TreeState): StateRow[] {
  const rows: StateRow[] = [];
  const needle = state.search.trim().toLowerCase();
  const isUnset = (view: KeyView): boolean =>
    view.value === undefined && view.change === "same" && !state.edits[view.key];
  const unset = needle === "" && !state.onlyChanged ? keys.filter(isUnset) : [];
  const folded = unset.length > 1 ? unset : [];
  const order = orderKeys(keys);
  for (const view of [...order.filter((key) => !folded.includes(key)), ...folded]) {
    if (view === folded[0]) {
      const names = folded.map((key) => key.key);
      rows.push({ type: "unset", id: UNSET, names, open: state.open.has(UNSET) });
    }
    if (folded.includes(view) && !state.open.has(UNSET)) break;
    const edit = state.edits[view.key];
    if (state.onlyChanged && view.change === "same" && !edit) continue;
    const loaded = state.loaded.get(view.key);
    const stored = hereValue(view, loaded);
    const value = edit ? edit.value : stored.value;
    const here = edit !== undefined || stored.here;
    const hits =
      needle === "" ? undefined : searchValue(value, readablePath(`/${escapePointer(view.key)}`), needle);
    const headHit = needle !== "" && !here && (view.value?.head ?? "").toLowerCase().includes(needle);
    if (needle !== "" && !hits?.size && !headHit) continue;
    const id = `/${escapePointer(view.key)}`;
    const open = state.open.has(id) || (hits !== undefined && [...hits].some((pointer) => pointer !== ""));
    rows.push({ type: "key", id, view, open, edit, value, here });
    if (!open) continue;
    let marks: Marks = NO_MARKS;

    const fresh =
      edit || needle !== "" || state.fromStart.has(view.key) || state.chat.has(view.key)
        ? undefined
        : gained(view);
    if (fresh !== undefined && view.value) {
      const length = view.value.length;
      const tail = state.tails.get(view.key);
      const items =
        stored.complete && Array.isArray(stored.value) ? stored.value.slice(length - fresh) : tail?.value;
      rows.push({ type: "before", id: `${id}#before`, key: view.key, count: length - fresh });
      if (!Array.isArray(items)) {
        rows.push({ type: "wait", id: `${id}#wait`, key: view.key, problem: tail?.problem });
        continue;
      }
      items.forEach((item: unknown, index) =>
        child(String(length - fresh + index), item, `/${length - fresh + index}`, 1, "added"),
      );
      continue;
    }

    const before = edit ? edit.base : view.previous?.value;
    const after = value;
    const changed = edit !== undefined || view.change === "changed" || view.change === "appended";
    if (
      changed &&
      typeof before === "string" &&
      typeof after === "string" &&
      (before.length > LONG_TEXT || after.length > LONG_TEXT)
    ) {
      rows.push({ type: "diff", id: `${id}#diff`, key: view.key, before, after });
      continue;
    }
    const appended = changed && before !== undefined ? appendedCount(before, after) : undefined;
    let changes: PathChange[] = [];
    if (
      changed &&
      appended === undefined &&
      before !== undefined &&
      after !== undefined &&
      isContainer(before) &&
      isContainer(after)
    ) {
      changes = changesBetween(before, after, "", MAX_CHANGES + 1);
      rows.push({
        type: "changes",
        id: `${id}#changes`,
        key: view.key,
        changes: changes.slice(0, MAX_CHANGES),
        cut: changes.length > MAX_CHANGES,
      });
    }
    if (!here) {
      rows.push({ type: "wait", id: `${id}#wait`, key: view.key, problem: loaded?.problem });
      continue;
    }
    if (value === undefined) continue;
    if (state.chat.has(view.key) && Array.isArray(value) && needle === "") {
      rows.push({ type: "chat", id: `${id}#chat`, key: view.key, messages: value, fresh: appended ?? 0 });
      continue;
    }
    marks = marksOf(value, appended, changes);
    const total =
      Array.isArray(value) && !stored.complete && !edit ? (view.value?.length ?? value.length) : undefined;
    if (isContainer(value)) children(value, "", 1, total);
    else if (typeof value === "string" && value.length > LONG_TEXT) {
      rows.push({ type: "text", id: `${id}#text`, key: view.key, pointer: "", depth: 1, text: value });
      if (!stored.complete && !edit) {
        rows.push({
          type: "more",
          id: `${id}#more`,
          key: view.key,
          pointer: "",
          depth: 1,
          shown: value.length,
          total: view.value?.length ?? value.length,
          remote: true,
        });
      }
    }

    function child(
      name: string,
      item: unknown,
      childPointer: string,
      depth: number,
      mark: "added" | "changed" | undefined,
    ): void {
      const childId = id + childPointer;
      const isOpen =
        state.open.has(childId) ||
        (hits !== undefined && [...hits].some((hit) => hit.startsWith(`${childPointer}/`)));
      const long = typeof item === "string" && (item.length > LONG_TEXT || item.includes("\n"));
      rows.push({
        type: "node",
        id: childId,
        key: view.key,
        pointer: childPointer,
        name,
        depth,
        value: item,
        kind: kindOf(item),
        children: isContainer(item) ? Object.keys(item as object).length : long ? 1 : 0,
        open: isOpen,
        mark,
        hit: hits?.has(childPointer) ?? false,
      });
      if (!isOpen) return;
      if (isContainer(item)) children(item, childPointer, depth + 1);
      else if (long)
        rows.push({
          type: "text",
          id: `${childId}#text`,
          key: view.key,
          pointer: childPointer,
          depth: depth + 1,
          text: item,
        });
    }

    function children(container: unknown, pointer: string, depth: number, remoteTotal?: number): void {
      const entries: [string, unknown][] = Array.isArray(container)
        ? container.map((item, index) => [String(index), item])
        : Object.entries(container as Record<string, unknown>);
      const at = id + pointer;
      const limit = needle !== "" ? entries.length : (state.shown.get(at) ?? PAGE);
      let shown = 0;
      for (const [name, item] of entries) {
        if (shown >= limit) break;
        const childPointer = `${pointer}/${escapePointer(name)}`;
        if (hits && !hits.has(childPointer) && ![...hits].some((hit) => hit.startsWith(`${childPointer}/`))) {
          if (!insideHit(hits, childPointer)) continue;
        }
        shown += 1;
        child(name, item, childPointer, depth, markAt(marks, childPointer));
      }
      const have = entries.length;
      const all = remoteTotal ?? have;
      if (needle === "" && (have > limit || all > have)) {
        rows.push({
          type: "more",
          id: `${at}#more`,
          key: view.key,
          pointer,
          depth,
          shown: Math.min(limit, have),
          total: all,
          remote: have <= limit,
        });
      }
    }
  }
  return rows;
}

export const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Pointers (inside the value) whose path, name or text has the needle; "" is the value itself. */
export function searchValue(value: unknown, path: string, needle: string): Set<string> {
  const hits = new Set<string>();
  const visit = (at: unknown, pointer: string): void => {
    if (hits.size > 2000) return;
    if (readable(path, pointer).toLowerCase().includes(needle)) {
      // Everything below has the same words in its path; the top of it is enough.
      hits.add(pointer);
      return;
    }
    if (Array.isArray(at)) at.forEach((item, index) => visit(item, `${pointer}/${index}`));
    else if (isObject(at))
      for (const [key, item] of Object.entries(at)) visit(item, `${pointer}/${escapePointer(key)}`);
    else if (at !== undefined && String(at).toLowerCase().includes(needle)) hits.add(pointer);
  };
  visit(value, "");
  return hits;
}

const readable = (path: string, pointer: string): string => {
  const rest = readablePath(pointer);
  return rest === "" ? path : rest.startsWith("[") ? path + rest : `${path}.${rest}`;
};

/** Is the pointer below a hit? What is inside a found container is shown when it is opened. */
function insideHit(hits: ReadonlySet<string>, pointer: string): boolean {
  for (let at = pointer.lastIndexOf("/"); at >= 0; at = pointer.lastIndexOf("/", at - 1)) {
    if (hits.has(pointer.slice(0, at))) return true;
    if (at === 0) break;
  }
  return false;
}

interface Marks {
  /** Index from which items of the top list are new. */
  readonly from: number;
  readonly paths: readonly PathChange[];
}

const NO_MARKS: Marks = { from: Number.POSITIVE_INFINITY, paths: [] };

function marksOf(value: unknown, appended: number | undefined, changes: readonly PathChange[]): Marks {
  const from =
    appended !== undefined && Array.isArray(value) ? value.length - appended : Number.POSITIVE_INFINITY;
  return { from, paths: changes };
}

function markAt(marks: Marks, pointer: string): "added" | "changed" | undefined {
  const top = Number(pointer.split("/")[1]);
  if (top >= marks.from) return "added";
  for (const change of marks.paths) {
    if (change.pointer === pointer) return change.change === "added" ? "added" : "changed";
    if (change.pointer.startsWith(`${pointer}/`)) return "changed";
  }
  return undefined;
}

/** What a key's row says about its change. */
export function changeText(view: KeyView): { kind: KeyView["change"]; items?: number } {
  if (view.change === "appended" && view.value && view.previous) {
    return { kind: "appended", items: Math.max(0, view.value.length - view.previous.length) };
  }
  return { kind: view.change };
}
