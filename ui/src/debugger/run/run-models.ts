/**
 * Who answers where the nodes of a run ask models: chosen for a run, not in the graph. A thread keeps what it began with;
 * a choice made for it here holds for whatever is run on it next.
 */
import { create } from "zustand";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import type { RunModels } from "../../ipc/bindings/RunModels";
import { t } from "../../lib/texts";

interface Choices {
  /** By thread, and by graph for threads that do not exist yet. */
  readonly chosen: Readonly<Record<string, RunModels>>;
}

export const useRunModels = create<Choices>()(() => ({ chosen: {} }));

/** The thread, or the graph for threads that do not exist yet. */
export const place = (graph: string, threadId: string | null): string =>
  threadId === null ? `graph:${graph}` : `thread:${threadId}`;

export function chooseModels(graph: string, threadId: string | null, models: RunModels): void {
  useRunModels.setState(({ chosen }) => ({ chosen: { ...chosen, [place(graph, threadId)]: models } }));
}

/** What was chosen; nothing leaves it to the thread, and in a new one to the nodes. */
export function chosenModels(
  { chosen }: Choices,
  graph: string,
  threadId: string | null,
): RunModels | undefined {
  return chosen[place(graph, threadId)];
}

/** Who answers, in one line; nothing when the nodes say it. */
export function modelsLine(models: RunModels | undefined): string | undefined {
  const parts: string[] = [];
  if (models?.scripted) parts.push(t("debug.models.by", { model: models.scripted }));
  if (models?.recording !== undefined) parts.push(t(`debug.models.${models.recording}.line`));
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/** Kinds whose settings name a model, or a graph that may hold such nodes. */
export function askingKinds(kinds: readonly NodeKind[]): ReadonlySet<string> {
  const asks = (kind: NodeKind) =>
    /"(model":\{|x-editor":"graph-file")/.test(JSON.stringify(kind.configSchema));
  return new Set(kinds.filter(asks).map((kind) => kind.kind));
}
