/**
 * Files that come to the window: dropped on it, pasted, or chosen as a picture of a graph. What holds a graph is opened as
 * a new one; of anything else it is said what it is and where it belongs. They come from anywhere, so nothing is trusted:
 * the workbench reads the text as it reads a file.
 */
import { graphInPng, graphInSvg, isPng, type Carried } from "../canvas/picture";
import { sayForeign } from "../canvas/clipboard";
import { whatIs } from "../document/foreign";
import { openGraph, settle } from "../document/open-graph";
import { rpc } from "../ipc/client";
import { t, type TextKey } from "../lib/texts";
import { showProblem, showToast } from "../state/toasts";

/** A graph is at most 64 MB; a picture of it may be as large beside it. */
const MOST_MB = 128;

type Read = Carried | ReturnType<typeof whatIs> | { readonly is: "tooLarge" | "unreadable" | "bytes" };

/** What a file is, by what it holds and not by its name. */
async function readFile(file: File): Promise<Read> {
  if (file.size > MOST_MB * 1024 * 1024) return { is: "tooLarge" };
  const bytes = await file.arrayBuffer().then(
    (buffer) => new Uint8Array(buffer),
    () => null,
  );
  if (bytes === null) return { is: "unreadable" };
  return whatBytesAre(bytes);
}

export function whatBytesAre(bytes: Uint8Array): Read & { readonly text?: string } {
  if (isPng(bytes)) return graphInPng(bytes);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { is: "bytes" };
  }
  if (/^\s*<(?:\?xml|!DOCTYPE svg|svg)\b/i.test(text.slice(0, 1000))) return graphInSvg(text);
  const known = whatIs(text);
  return known.is === "graph" ? { is: "graph", text } : known;
}

const SAID: Readonly<Record<string, readonly [TextKey, TextKey?]>> = {
  none: ["incoming.none", "incoming.noneHelp"],
  damaged: ["incoming.damaged", "incoming.damagedHelp"],
  tooLarge: ["incoming.tooLarge"],
  unreadable: ["incoming.unreadable", "incoming.unreadableHelp"],
  clip: ["incoming.nodes", "incoming.nodesHelp"],
  thread: ["incoming.thread", "incoming.threadHelp"],
};
const OTHER: readonly [TextKey, TextKey] = ["incoming.other", "incoming.otherHelp"];

/** Opens the graph of a file as a new one, or says what the file is. */
export async function takeFile(file: File): Promise<void> {
  try {
    const read = await readFile(file);
    if (read.is === "foreign") return sayForeign(read.builder);
    if (read.is === "graph" && "text" in read) {
      // What a picture carries is a graph only when its text is one.
      if (whatIs(read.text).is === "graph") return await openText(read.text, file.name);
      return say("damaged", file.name);
    }
    say(read.is, file.name);
  } catch (thrown) {
    showProblem(thrown);
  }
}

function say(is: string, file: string): void {
  const [text, help] = SAID[is] ?? OTHER;
  showToast({
    tone: is === "damaged" || is === "unreadable" ? "problem" : "info",
    text: t(text, { file, most: MOST_MB }),
    ...(help !== undefined && { detail: t(help) }),
  });
}

async function openText(text: string, file: string): Promise<void> {
  await settle();
  openGraph(await rpc("graph.new", { name: t("shell.newName"), text }));
  showToast({ tone: "done", text: t("incoming.opened", { file }), detail: t("incoming.openedHelp") });
}

/** Asks for a picture of a graph; the browser's own dialog, which both hosts have. */
export function choosePicture(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".png,.svg,image/png,image/svg+xml";
  input.addEventListener("change", () => takeFirst(input.files));
  input.click();
}

function takeFirst(files: FileList | null): void {
  const file = files?.[0];
  if (files === null || file === undefined) return;
  if (files.length > 1) showToast({ tone: "info", text: t("incoming.first", { n: files.length }) });
  void takeFile(file);
}

const isModal = () => document.querySelector("[role=dialog][data-open], [role=alertdialog]") !== null;
const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes("Files") ?? false;
const isText = (target: EventTarget | null) =>
  target instanceof Element && target.closest("input, textarea, [contenteditable=true]") !== null;

/** Listens for files, which a browser would otherwise show in the place of the window. */
export function followFiles(): () => void {
  const onDragOver = (event: DragEvent) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = isModal() ? "none" : "copy";
  };
  const onDrop = (event: DragEvent) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    if (!isModal()) takeFirst(event.dataTransfer.files);
  };
  const onPaste = (event: ClipboardEvent) => {
    const { clipboardData: data, target } = event;
    if (!hasFiles(data) || data.files.length === 0 || isText(target) || isModal()) return;
    event.preventDefault();
    event.stopPropagation();
    takeFirst(data.files);
  };
  document.addEventListener("dragover", onDragOver);
  document.addEventListener("drop", onDrop);
  document.addEventListener("paste", onPaste, true);
  return () => {
    document.removeEventListener("dragover", onDragOver);
    document.removeEventListener("drop", onDrop);
    document.removeEventListener("paste", onPaste, true);
  };
}
