/** Keys of the tree: arrows walk it, Enter edits, Space opens, Ctrl+C copies. */
import type { Virtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";
import { copyText } from "../../debugger/parts/CopyButton";
import { readablePath } from "../../debugger/parts/diff";
import type { StateRow } from "../../debugger/state/state-rows";
import { statePath, textOfValue } from "./TreeRow";

interface Tree {
  readonly rows: readonly StateRow[];
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  readonly focused: string | null;
  setFocused(id: string): void;
  toggle(id: string, to?: boolean): void;
  beginEdit(key: string, pointer: string): void;
}

const readable = (row: StateRow): string | undefined =>
  row.type === "key" ? `state.${readablePath(row.id)}` : row.type === "node" ? statePath(row.id) : undefined;

export function useTreeKeys({ rows, virtual, focused, setFocused, toggle, beginEdit }: Tree) {
  return (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const walk = rows
      .map((row, index) => ({ row, index }))
      .filter(({ row }) => ["key", "node", "more", "unset"].includes(row.type));
    const at = walk.findIndex(({ row }) => row.id === focused);
    const go = (to: number) => {
      const target = walk[Math.max(0, Math.min(walk.length - 1, to))];
      if (!target) return;
      setFocused(target.row.id);
      virtual.scrollToIndex(target.index);
    };
    const row = walk[at]?.row;
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at < 0 ? 0 : at - 1);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(walk.length - 1);
        break;
      case "ArrowRight":
        if (row && "open" in row && !row.open) toggle(row.id, true);
        else go(at + 1);
        break;
      case "ArrowLeft":
        if (row && "open" in row && row.open) toggle(row.id, false);
        else if (row) {
          const parent = row.id.slice(0, row.id.lastIndexOf("/"));
          const index = walk.findIndex((each) => each.row.id === parent);
          if (index >= 0) go(index);
        }
        break;
      case "Enter":
      case "F2":
        if (row?.type === "key") beginEdit(row.view.key, "");
        else if (row?.type === "node") beginEdit(row.key, row.pointer);
        break;
      case " ":
        if (row && "open" in row) toggle(row.id);
        break;
      case "c":
        if (!(event.ctrlKey || event.metaKey) || !row || !("value" in row)) return;
        void copyText(event.shiftKey ? (readable(row) ?? "") : textOfValue(row.value));
        break;
      default:
        return;
    }
    event.preventDefault();
  };
}
