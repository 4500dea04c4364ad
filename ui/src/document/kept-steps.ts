/**
 * Keeps the steps of undo with the workbench, so that they are there when a graph is opened again. They follow an edit a
 * moment later, when the workbench has it, and are given the revision that they lead to.
 */
import { rpc } from "../ipc/client";
import { t } from "../lib/texts";
import { showToast } from "../state/toasts";
import type { History } from "./history";

/** Steps are sent when no edit has come for so long. */
const REST_MS = 1200;

interface Source {
  readonly graphId: string | null;
  readonly rev: number;
  readonly settled: boolean;
}

export class StepKeeper {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting = false;
  readonly #now: () => { readonly sync: Source; readonly history: History };

  constructor(now: () => { readonly sync: Source; readonly history: History }) {
    this.#now = now;
  }

  /** There is another step, or one less. */
  touch(): void {
    this.#waiting = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.send(), REST_MS);
  }

  /** Sends what waits. Before a graph is left, when its edits are at the workbench. */
  async send(): Promise<void> {
    if (!this.#waiting) return;
    const { sync, history } = this.#now();
    if (sync.graphId === null) return;
    if (!sync.settled) {
      this.touch();
      return;
    }
    this.#waiting = false;
    clearTimeout(this.#timer);
    await keepSteps(sync.graphId, sync.rev, history);
  }

  /** Another graph is shown: what waits is not about it. */
  forget(): void {
    this.#waiting = false;
    clearTimeout(this.#timer);
  }
}

export async function keepSteps(graphId: string, rev: number, history: History): Promise<void> {
  try {
    await rpc("graph.keepSteps", { graphId, rev, steps: history.kept() });
  } catch {
    // The steps are in this window, and the next edit keeps them again.
  }
}

/** Fills an empty history with the steps that were kept. Says so when they no longer fit. */
export async function takeKeptSteps(
  graphId: string,
  history: History,
  isCurrent: () => boolean,
): Promise<void> {
  try {
    const { steps, dropped } = await rpc("graph.steps", { graphId });
    if (!isCurrent() || !history.isEmpty) return;
    if (dropped) showToast({ tone: "info", text: t("steps.dropped"), detail: t("steps.droppedHelp") });
    else if (steps !== undefined) history.load(steps);
  } catch {
    // Undo begins with the next edit.
  }
}
