/** Threads as copies and files. Native dialogs where the host has them, ours otherwise. */
import { openFileDialog, saveFileDialog } from "../../state/file-dialogs";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { host, rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { stopJob, useJobs, withJob } from "../../state/jobs";
import { asProblem } from "../parts/problem";
import { loadThreads } from "../model/thread-list";

/** Work that is over sooner is not worth a note. */
const NOTE_AFTER = 700;

/** Does work with a note that stops it, once it takes long enough to be noticed. */
async function noted<T>(text: string, run: (work: string) => Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await withJob(run, (work) => {
      timer = setTimeout(() => {
        const progress = useJobs.getState().going.get(work);
        if (!progress) return;
        showToast({
          tone: "info",
          text,
          detail: t("storage.of", { done: progress.done, total: progress.total }),
          action: { label: t("storage.stop"), run: () => stopJob(work) },
        });
      }, NOTE_AFTER);
    });
  } catch (problem) {
    // The person who stopped it knows.
    if (asProblem(problem).code !== "stopped") showProblem(problem);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** A file name for people, without what a file system does not take. */
export function fileNameOf(title: string): string {
  const name = title
    .replace(/[\\/:*?"<>|\p{Cc}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 60)
    .replace(/[. ]+$/, "");
  return `${name === "" ? "thread" : name}.jsonl`;
}

function show(thread: ThreadView): void {
  useSession.getState().setCursor({ threadId: thread.threadId, checkpointId: null });
  void loadThreads();
}

export async function copyThread(thread: ThreadView): Promise<void> {
  try {
    const title = t("storage.thread.copyTitle", { title: thread.title });
    show(await rpc("thread.copy", { threadId: thread.threadId, title }));
  } catch (problem) {
    showProblem(problem);
  }
}

export async function exportThread(thread: ThreadView): Promise<void> {
  const suggested = `${useSession.getState().appInfo?.graphsDir ?? ""}/${fileNameOf(thread.title)}`;
  const path = await (host.pickSave ? host.pickSave(suggested, "jsonl") : saveFileDialog(suggested, "jsonl"));
  if (path === null) return;
  const text = t("storage.thread.exporting", { title: thread.title });
  const done = await noted(text, (work) => rpc("thread.export", { threadId: thread.threadId, path, work }));
  if (done) showToast({ tone: "done", text: t("storage.thread.exported", { path: done.path }) });
}

export async function importThread(): Promise<void> {
  const path = await (host.pickOpen ? host.pickOpen("jsonl") : openFileDialog("jsonl"));
  if (path === null) return;
  const thread = await noted(t("storage.thread.importing"), (work) => rpc("thread.import", { path, work }));
  if (!thread) return;
  showToast({ tone: "done", text: t("storage.thread.imported", { title: thread.title }) });
  show(thread);
}
