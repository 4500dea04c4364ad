/**
 * Copy, cut and paste as JSON text. The keys arrive as the browser's own clipboard events, which need no permission in
 * either host; menus and the command palette use the clipboard API with a copy kept here for when it is refused.
 */
import { copyNodes, parseClip, pasteClip, type Clip } from "../document/clip";
import type { Point } from "../document/edits";
import { doc } from "../document/store";
import { positionOf } from "../document/types";
import { edit, mark } from "../document/edit";
import { clashingKeys, pasteWithKeys } from "../document/merge";
import { undo } from "../document/undo";
import { listed } from "../lib/intl";
import { builderName, whatIs, type Builder } from "../document/foreign-formats";
import { t, type TextKey } from "../lib/texts";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import { clearForAll } from "./adding";
import { importGraph } from "./importing";
import { knownKinds } from "./kinds";
import { deleteEverywhere } from "./records";
import { scene } from "./scene";
import { selectedParts } from "./line-selection";

let kept = "";

function selectionText(): string | null {
  const { nodes } = useSession.getState().selection;
  const clip: Clip = copyNodes(doc, nodes, (name) => scene.position(name), knownKinds());
  return Object.keys(clip.nodes).length === 0 ? null : JSON.stringify(clip, null, 2);
}

/** The selected nodes as text; null when there are none. */
export function copySelection(): string | null {
  const text = selectionText();
  if (text !== null) kept = text;
  return text;
}

export function cutSelection(): string | null {
  const text = copySelection();
  if (text !== null) deleteSelection(t("canvas.edit.cut"));
  return text;
}

export function deleteSelection(name = t("canvas.edit.delete")): void {
  const { nodes } = useSession.getState().selection;
  deleteEverywhere(name, { nodes, ...selectedParts() });
}

/** Pastes text with its top left corner at `place`, with the edges that led in when that is wished. Answers whether it was ours. */
function pasteText(text: string, place: Point, connected = false): boolean {
  const clip = parseClip(text);
  if (!clip) return false;
  const clashing = clashingKeys(doc, clip);
  const corners = Object.values(clip.layout).flatMap((at) => positionOf(at) ?? []);
  const free = scene.filed(clearForAll(place, corners));
  const paste = (shared: boolean) => {
    const how = { connected, shared };
    const { patch, names } = pasteWithKeys(doc, clip, free, knownKinds(), how);
    if (edit(t("canvas.edit.paste"), patch)) useSession.getState().select({ nodes: names });
  };
  paste(false);
  if (clashing.length > 0) {
    const pasted = mark();
    const keys = listed([...clashing]);
    showToast({
      tone: "info",
      text: t("canvas.paste.otherKeys", { keys }),
      detail: t("canvas.paste.otherKeysHelp"),
      action: {
        label: t("canvas.paste.useKeys"),
        run: () => {
          if (mark() === pasted) undo();
          paste(true);
        },
      },
    });
  }
  return true;
}

/** Pastes, or says what the text is when nothing of it can be pasted. */
export function pasteOrSay(text: string, place: Point, connected = false): void {
  // A whole graph brings its state keys along.
  if (whatIs(text).is === "graph" && importGraph(text, { place })) return;
  if (!pasteText(text, place, connected)) saySomethingElse(text);
}

function saySomethingElse(text: string): void {
  const known = whatIs(text);
  if (known.is === "foreign") sayForeign(known.builder);
  else showToast({ tone: "info", text: t("canvas.paste.foreign") });
}

/** What becomes of it here, where more can be said than what to search for. */
const HELP: Readonly<Partial<Record<Builder, TextKey>>> = {
  langgraph: "foreign.langgraph",
  langgraphPython: "foreign.langgraphPython",
  langgraphTypeScript: "foreign.langgraphTypeScript",
  mermaid: "foreign.mermaid",
  openaiAgents: "foreign.openaiAgents",
  rivet: "foreign.rivet",
};

/** Says whose work it is, and what can be done with it here. */
export function sayForeign(builder: Builder): void {
  showToast({
    tone: "info",
    text: t("foreign.is", { builder: builderName(builder) }),
    detail: foreignHelp(builder),
  });
}

/** What can be done with it here. */
export const foreignHelp = (builder: Builder): string => t(HELP[builder] ?? "foreign.help");

export function duplicateSelection(): void {
  const { nodes } = useSession.getState().selection;
  const clip = copyNodes(doc, nodes, (name) => scene.position(name));
  const spots = Object.keys(clip.nodes).map((name) => scene.position(name));
  if (spots.length === 0) return;
  const place = {
    x: Math.min(...spots.map((spot) => spot.x)) + 32,
    y: Math.min(...spots.map((spot) => spot.y)) + 32,
  };
  const { patch, names } = pasteClip(doc, clip, place, knownKinds());
  if (edit(t("canvas.edit.duplicate"), patch)) useSession.getState().select({ nodes: names });
}

/** For menus: puts text on the system's clipboard, or keeps it here. */
export function writeClipboard(text: string | null): void {
  if (text === null) return;
  kept = text;
  navigator.clipboard?.writeText(text).catch(() => {
    // Kept here: pasting in this window still works.
  });
}

export async function readClipboard(): Promise<string> {
  try {
    return (await navigator.clipboard.readText()) || kept;
  } catch {
    return kept;
  }
}

/** Is a text field or a dialog meant, and not the canvas? */
function elsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, [contenteditable=true], [role=dialog], .cm-editor")) return true;
  return !(target === document.body || target.closest("[data-canvas], [data-selects]") !== null);
}

/** Listens to the browser's clipboard events while the canvas is on screen. */
export function followClipboard(place: () => Point): () => void {
  const marked = () => (document.getSelection()?.toString() ?? "") !== "";
  const take = (event: ClipboardEvent, text: () => string | null) => {
    if (elsewhere(event.target) || marked()) return;
    const copied = text();
    if (copied === null) return;
    event.clipboardData?.setData("text/plain", copied);
    event.preventDefault();
  };
  const onCopy = (event: ClipboardEvent) => take(event, copySelection);
  const onCut = (event: ClipboardEvent) => take(event, cutSelection);
  const onPaste = (event: ClipboardEvent) => {
    if (elsewhere(event.target)) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim() === "") return;
    event.preventDefault();
    pasteOrSay(text, place());
  };
  document.addEventListener("copy", onCopy);
  document.addEventListener("cut", onCut);
  document.addEventListener("paste", onPaste);
  return () => {
    document.removeEventListener("copy", onCopy);
    document.removeEventListener("cut", onCut);
    document.removeEventListener("paste", onPaste);
  };
}
