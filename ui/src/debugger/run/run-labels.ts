/**
 * Tags and metadata of the next run, as they are written: chosen for a run, not in the graph. A thread keeps what it has; a
 * change made here holds for whatever is run on it next.
 */
import { create } from "zustand";
import type { RunLabels } from "../../ipc/bindings/RunLabels";
import { place } from "./run-models";

/** As they stand in the fields. */
export interface LabelTexts {
  /** Separated by commas. */
  readonly tags: string;
  /** A key and a value with `=` between, one entry a line. */
  readonly metadata: string;
}

export const useRunLabels = create<{
  /** By thread, and by graph for threads that do not exist yet. */
  readonly written: Readonly<Record<string, LabelTexts>>;
}>()(() => ({ written: {} }));

export function writeLabels(graph: string, threadId: string | null, texts: LabelTexts): void {
  useRunLabels.setState(({ written }) => ({ written: { ...written, [place(graph, threadId)]: texts } }));
}

export const textsOf = (labels: RunLabels | undefined): LabelTexts => ({
  tags: (labels?.tags ?? []).join(", "),
  metadata: entriesOf(labels).join("\n"),
});

/** The entries of metadata, each as `key=value`. */
export const entriesOf = (labels: RunLabels | undefined): string[] =>
  Object.entries(labels?.metadata ?? {}).map(([key, value]) => `${key}=${value}`);

/** What the fields say, and the first line that says nothing. */
export function labelsOf(texts: LabelTexts): { labels: RunLabels; wrong: string | undefined } {
  const tags = texts.tags
    .split(/[,\n]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  const metadata: Record<string, string> = {};
  let wrong: string | undefined;
  for (const line of texts.metadata.split("\n").filter((one) => one.trim() !== "")) {
    const at = line.indexOf("=");
    const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    if (at < 0 || key === "" || value === "") wrong ??= line.trim();
    else metadata[key] = value;
  }
  return { labels: { tags: [...new Set(tags)], metadata }, wrong };
}

/** For `run.start`; nothing leaves it to the thread. */
export function labelsFor(graph: string, threadId: string | null): { labels?: RunLabels } {
  const texts = useRunLabels.getState().written[place(graph, threadId)];
  return texts === undefined ? {} : { labels: labelsOf(texts).labels };
}

/** In one line. */
export const labelsLine = (labels: RunLabels | undefined): string =>
  [...(labels?.tags ?? []), ...entriesOf(labels)].join(" · ");
