/** Opening, saving and leaving graphs. Native dialogs where the host has them, ours otherwise. */
import { setField } from "../document/edits";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { flush, lookElsewhere, markSaved, openGraph, readSavedText, settle } from "../document/open-graph";
import { openFileDialog, saveFileDialog } from "../state/file-dialogs";
import { host, rpc, RpcProblem } from "../ipc/client";
import { isAddress, splitAddress } from "../lib/address";
import { splitPath } from "../lib/path";
import { t } from "../lib/texts";
import { mergeFile } from "./merge-file";
import { makeOwn, openPlace } from "../debugger/run/seen";
import { askAddress } from "../state/seen-dialogs";
import { useSession } from "../state/session";
import { showProblem, showToast } from "../state/toasts";
async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    showProblem(thrown);
  }
}

export function newGraph(): Promise<void> {
  return guarded(async () => {
    await settle();
    openGraph(await rpc("graph.new", { name: t("shell.newName") }));
  });
}

export function openWithDialog(): Promise<void> {
  return guarded(async () => {
    const path = await (host.pickOpen ? host.pickOpen() : openFileDialog());
    if (path === null) return;
    // One with a password came as it was typed, and is looked at before it is used.
    if (isAddress(path)) askAddress(path, splitAddress(path).password === "");
    else await openPlace(path);
  });
}

/** Is there nothing to save, because the graph was only seen in threads? Then it is said what can be done instead. */
function isSeen(): boolean {
  if (useDocumentState.getState().seen === null) return false;
  showToast({
    tone: "info",
    text: t("seen.noSave"),
    detail: t("seen.noEditHelp"),
    action: { label: t("seen.own"), run: () => void makeOwn() },
  });
  return true;
}

/** Saves where the document is; a draft asks for a place. */
export function save(): Promise<void> {
  return guarded(async () => {
    if (useDocumentState.getState().graphId === null || isSeen()) return;
    await flush();
    // A host that was away knows the graph by another id since then.
    const { graphId, path } = useDocumentState.getState();
    if (graphId === null) return;
    if (path === null) await saveSomewhere(graphId);
    else await store(graphId, undefined);
  });
}

export function saveAs(): Promise<void> {
  return guarded(async () => {
    if (useDocumentState.getState().graphId === null || isSeen()) return;
    await flush();
    const { graphId } = useDocumentState.getState();
    if (graphId !== null) await saveSomewhere(graphId);
  });
}

async function saveSomewhere(graphId: string): Promise<void> {
  const { path: open, text } = useDocumentState.getState();
  const name = text !== null && open !== null ? splitPath(open).name : `${fileName(doc.name)}.json`;
  const suggested = `${useSession.getState().appInfo?.graphsDir ?? ""}/${name}`;
  const path = await (host.pickSave ? host.pickSave(suggested) : saveFileDialog(suggested));
  if (path === null) return;
  // A draft that has never been named is called as its file.
  const words = nameOf(path);
  if (text === null && doc.name === t("shell.newName") && words !== null) {
    edit(t("shell.edit.renameGraph"), (document) => setField(document, "doc", "/name", words));
    await flush();
  }
  // Both kinds of dialog have asked before they answer with a file that is there.
  await store(graphId, path, { overwrite: true });
}

/** A graph's name in words, from its file: `order-agent.json`, or the folder of a `graph.json`. */
export function nameOf(path: string): string | null {
  const { dir, name } = splitPath(path);
  const file = name.toLowerCase() === "graph.json" ? splitPath(dir).name : name.replace(/\.json$/i, "");
  const words = file.replace(/[-_\s]+/g, " ").trim();
  return words === "" ? null : words.charAt(0).toUpperCase() + words.slice(1);
}

function fileName(name: string): string {
  const stem = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
  return stem || "graph";
}

interface Over {
  readonly overwrite?: boolean;
  /** What the file held when its changes were merged. */
  readonly seen?: string;
}

/** Answers whether the file was written; when it was not, the person was asked or shown why. */
async function store(graphId: string, path: string | undefined, over: Over = {}): Promise<boolean> {
  const overwrite = over.overwrite ?? false;
  try {
    const seen = over.seen === undefined ? {} : { seen: over.seen };
    const place = path === undefined ? {} : { path };
    const saved = await rpc("graph.save", { graphId, overwrite, ...seen, ...place });
    markSaved(saved.path, saved.savedRev);
    await readSavedText(graphId);
    // Edits of another window, which are in the file now, are shown.
    if (saved.savedRev !== useDocumentState.getState().rev) await lookElsewhere();
    return true;
  } catch (thrown) {
    const problem = RpcProblem.from(thrown);
    if (overwrite || !OVERWRITABLE.has(problem.code)) throw thrown;
    if (problem.code === "changed-on-disk" && (await merged(graphId))) return false;
    // Someone else's words would be lost: that is the person's decision, not ours.
    showToast({
      tone: "problem",
      text: problem.message,
      ...(problem.remedy ? { detail: problem.remedy } : {}),
      action: {
        label: t("shell.save.overwrite"),
        run: () => void guarded(async () => void (await store(graphId, path, { overwrite: true }))),
      },
    });
    return false;
  }
}

/** Answers whether the changes in the file could be joined with the ones here, or are asked about. */
async function merged(graphId: string): Promise<boolean> {
  try {
    await mergeFile(graphId, (seen) =>
      store(graphId, undefined, { seen }).catch((thrown: unknown) => {
        showProblem(thrown);
        return false;
      }),
    );
    return true;
  } catch {
    // The file is no graph any more, or is gone: the refusal says what can be done.
    return false;
  }
}

/** Refusals to save that the person may overrule. */
const OVERWRITABLE = new Set(["file-exists", "changed-on-disk"]);
