/** Pictures of the open graph: saved where a person says, or on the clipboard. */
import { create } from "zustand";
import {
  base64,
  drawOpenGraph,
  hasMarks,
  pngOf,
  pngWithGraph,
  svgWithGraph,
  type Drawn,
  type Theme,
} from "../../canvas/picture";
import { doc } from "../../document/store";
import { flush } from "../../document/open-graph";
import { host, rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";

export type PictureForm = "svg" | "png";

/** How pictures are drawn, until the window is closed; a theme of null is that of the window. */
export const usePictureLook = create<{
  readonly theme: Theme | null;
  readonly marks: boolean;
  /** Saved pictures carry the graph, to be opened from them again. */
  readonly carry: boolean;
}>(() => ({ theme: null, marks: true, carry: true }));

export function lookNow(): { readonly theme: Theme; readonly marks: boolean } {
  const { theme, marks } = usePictureLook.getState();
  const window: Theme = document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
  return { theme: theme ?? window, marks: marks && hasMarks() };
}

/** Draws the graph as it would be exported now; null when there is nothing to draw. Never while React renders. */
export async function drawNow(): Promise<Drawn | null> {
  await Promise.resolve();
  const { theme, marks } = lookNow();
  return drawOpenGraph(theme, marks);
}

/** A file name for people, without what a file system does not take. */
function pictureName(name: string, form: PictureForm): string {
  const stem = name
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 60)
    .replace(/[. ]+$/, "");
  return `${stem === "" ? "graph" : stem}.${form}`;
}

async function contentOf(drawn: Drawn, form: PictureForm): Promise<Blob | null> {
  const text = usePictureLook.getState().carry ? await graphText() : null;
  if (form === "svg") {
    const svg = text === null ? drawn.svg : svgWithGraph(drawn.svg, text);
    return new Blob([svg], { type: "image/svg+xml" });
  }
  const png = await pngOf(drawn);
  if (png === null || text === null) return png;
  return new Blob([pngWithGraph(new Uint8Array(await png.arrayBuffer()), text)], { type: "image/png" });
}

/** The open graph as it would be saved now. */
async function graphText(): Promise<string | null> {
  const { graphId } = useSession.getState();
  if (graphId === null) return null;
  await flush();
  return (await rpc("graph.export", { graphId })).json;
}

const tooLarge = (): void => {
  showToast({ tone: "problem", text: t("picture.tooLarge"), detail: t("picture.tooLarge.remedy") });
};

export async function savePicture(form: PictureForm): Promise<void> {
  try {
    const drawn = await drawNow();
    if (!drawn) return;
    const content = await contentOf(drawn, form);
    if (!content) return tooLarge();
    const name = pictureName(doc.name, form);
    if (host.kind === "web" || !host.pickSave) {
      download(content, name);
      showToast({ tone: "done", text: t("picture.downloaded", { name }) });
      return;
    }
    const folder = useSession.getState().appInfo?.graphsDir ?? "";
    const picked = await host.pickSave(`${folder}/${name}`, form);
    if (picked === null) return;
    const path = picked.toLowerCase().endsWith(`.${form}`) ? picked : `${picked}.${form}`;
    const bytes = new Uint8Array(await content.arrayBuffer());
    const saved = await rpc("picture.save", { path, content: base64(bytes) });
    showToast({ tone: "done", text: t("picture.saved", { path: saved.path }) });
  } catch (thrown) {
    showProblem(thrown);
  }
}

function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has its own hold on the content once it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Puts the picture on the clipboard as PNG; says what to do where the window may not. */
export async function copyPicture(): Promise<boolean> {
  try {
    const drawn = await drawNow();
    if (!drawn) {
      showToast({ tone: "info", text: t("picture.empty"), detail: t("picture.emptyHelp") });
      return false;
    }
    const png = pngOf(drawn);
    if (typeof ClipboardItem === "undefined") throw new Error("no pictures on this clipboard");
    // Given as a promise: the window must not lose the click that allows it while the picture is drawn.
    const content = png.then((blob) => blob ?? Promise.reject(new Error("too large")));
    content.catch(() => undefined);
    await navigator.clipboard.write([new ClipboardItem({ "image/png": content })]).catch(async (refused) => {
      if ((await png) === null) return tooLarge();
      throw refused;
    });
    if ((await png) === null) return false;
    showToast({ tone: "done", text: t("picture.copied") });
    return true;
  } catch {
    showToast({ tone: "problem", text: t("picture.copyRefused"), detail: t("picture.copyRefused.remedy") });
    return false;
  }
}
