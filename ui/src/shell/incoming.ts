/**
 * Files that come to the window: dropped on it, pasted, or chosen. What holds a graph is opened as a new one, or comes into
 * the open one; of anything else it is said what it is and where it belongs. They come from anywhere, so nothing is trusted:
 * the workbench reads the text as it reads a file.
 */
import { graphInPng, graphInSvg, isPng, type Carried } from "../canvas/picture";
import { sayForeign } from "../canvas/clipboard";
import { importGraph } from "../canvas/importing";
import { whatIs } from "../document/foreign-formats";
import { openGraph, settle } from "../document/open-graph";
import { rpc } from "../ipc/client";
import { t, type TextKey } from "../lib/texts";
import { useSession } from "../state/session";
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

function whatBytesAre(bytes: Uint8Array): Read & { readonly text?: string } {
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

/** What becomes of the graph of a file: a new one, part of the open one, or what a person says. */
type Into = "new" | "open" | "asked";

/** Takes the graph of a file, or says what the file is. */
export async function takeFile(file: File, into: Into = "new"): Promise<void> {
  try {
    const read = await readFile(file);
    if (read.is === "foreign") return sayForeign(read.builder);
    if (read.is === "graph" && "text" in read) {
      // What a picture carries is a graph only when its text is one.
      const { text } = read;
      const opened = () => openText(text, file.name).catch(showProblem);
      const how = { name: file.name, ...(into === "asked" && { open: () => void opened() }) };
      if (whatIs(text).is === "graph") {
        if (into === "new" || !importGraph(text, how)) await opened();
        return;
      }
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

/** Asks for a file; the browser's own dialog, which both hosts have. */
function choose(accept: string, into: Into): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = accept;
  input.addEventListener("change", () => takeFirst(input.files, into));
  input.click();
}

const PICTURES = ".png,.svg,image/png,image/svg+xml";

export const choosePicture = (): void => choose(PICTURES, "new");

/** Asks for a graph, or a picture that carries one, that comes into the open graph. */
export const chooseImport = (): void => choose(`.json,application/json,${PICTURES}`, "open");

/** Dropped on the canvas, a graph may be meant for the one that is there. */
function meant(target: EventTarget | null): Into {
  const { use, graphId } = useSession.getState();
  const canvas = target instanceof Element && target.closest("[data-canvas]") !== null;
  return canvas && use === "design" && graphId !== null ? "asked" : "new";
}

function takeFirst(files: FileList | null, into: Into): void {
  const file = files?.[0];
  if (files === null || file === undefined) return;
  if (files.length > 1) showToast({ tone: "info", text: t("incoming.first", { n: files.length }) });
  void takeFile(file, into);
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
    if (!isModal()) takeFirst(event.dataTransfer.files, meant(event.target));
  };
  const onPaste = (event: ClipboardEvent) => {
    const { clipboardData: data, target } = event;
    if (!hasFiles(data) || data.files.length === 0 || isText(target) || isModal()) return;
    event.preventDefault();
    event.stopPropagation();
    takeFirst(data.files, "new");
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
