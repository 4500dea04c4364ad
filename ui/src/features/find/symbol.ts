/** What the cursor is on: a state key or a node, in a text, in a field that names one, in a list, or on the canvas. */
import { pointerGet } from "../../document/pointer";
import type { Named } from "../../document/rename";
import { doc } from "../../document/store";
import { END, sectionOf, START } from "../../document/types";
import { useSession } from "../../state/session";

/** The line that the cursor is in, and where. */
function caretLine(active: Element): { text: string; at: number } | null {
  if (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement) {
    const at = active.selectionStart;
    return at === null ? null : { text: active.value, at };
  }
  const selection = document.getSelection();
  const node = selection?.focusNode;
  const line = (node instanceof Element ? node : node?.parentElement)?.closest(".cm-line");
  if (!selection || !node || !line || !active.contains(line)) return null;
  const range = document.createRange();
  range.selectNodeContents(line);
  range.setEnd(node, selection.focusOffset);
  return { text: line.textContent ?? "", at: range.toString().length };
}

/** The name that a word of a text is; a quoted text may be a name with spaces. */
export function namedAt(text: string, at: number, has: (record: string) => boolean): Named | null {
  const named = (name: string, before: string): Named | null => {
    const key = { what: "key", name } as const;
    const node = { what: "node", name } as const;
    // What stands behind `state` is a key, whatever else has its name.
    if (/state\s*\??\.?\[?\s*["']?$/.test(before)) return has(`key:${name}`) ? key : null;
    if (has(`key:${name}`)) return key;
    return has(`node:${name}`) ? node : null;
  };
  for (const match of text.matchAll(/"([^"\n]+)"|'([^'\n]+)'/g)) {
    const name = match[1] ?? match[2] ?? "";
    if (at < match.index || at > match.index + match[0].length) continue;
    const found = named(name, text.slice(0, match.index + 1));
    if (found) return found;
  }
  for (const match of text.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)) {
    if (at < match.index || at > match.index + match[0].length) continue;
    const found = named(match[0], text.slice(0, match.index));
    if (found) return found;
  }
  return null;
}

/** What is meant where the focus is. */
export function symbolHere(active: Element | null = document.activeElement): Named | null {
  const has = (record: string) => doc.has(record);
  const key = active?.closest("[data-key]")?.getAttribute("data-key");
  if (key !== null && key !== undefined && has(`key:${key}`)) return { what: "key", name: key };
  if (active) {
    const caret = caretLine(active);
    const inText = caret && namedAt(caret.text, caret.at, has);
    if (inText) return inText;
  }
  const { selection } = useSession.getState();
  const pointer = active?.closest("[data-pointer]")?.getAttribute("data-pointer");
  const record =
    selection.nodes[0] === undefined ? `edge:${selection.edges[0]}` : `node:${selection.nodes[0]}`;
  if (pointer && sectionOf(record)) {
    const value = pointerGet(doc.get(record), pointer);
    const found = typeof value === "string" ? namedAt(value, 0, has) : null;
    if (found && found.name === value) return found;
  }
  if (selection.key !== null && has(`key:${selection.key}`)) return { what: "key", name: selection.key };
  const [node, ...others] = selection.nodes;
  if (node === undefined || others.length > 0 || node === START || node === END) return null;
  return has(`node:${node}`) ? { what: "node", name: node } : null;
}

/** Is a name meant that a text or a list names, and not the node that is selected? */
export function keyHere(): Named | null {
  const active = document.activeElement;
  const inside = active?.closest("[data-key], input, textarea, .cm-content, [data-pointer]");
  return inside ? symbolHere(active) : null;
}
