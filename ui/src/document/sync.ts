/**
 * Keeps the workbench's copy of the open document equal to ours. Edits wait a moment and go over as one patch, one at a
 * time; the answer brings the problems. A refused patch means that the document was changed elsewhere: it is fetched
 * again, because the host is the authority. A lost connection keeps the edits and tries again.
 */
import type { Applied } from "../ipc/bindings/Applied";
import type { ApplyPatch } from "../ipc/bindings/ApplyPatch";
import { joined, type Patch } from "./patch";

export interface SyncPorts {
  send(request: ApplyPatch): Promise<Applied>;
  /** The host has another document than ours: fetch it and take it. */
  reload(graphId: string): Promise<void>;
  onChange(): void;
  /** What checking the document found. */
  onChecked(checked: Pick<Applied, "diagnostics" | "leads">): void;
  /** The error that a patch met, and whether it will be tried again by itself. */
  onProblem(problem: unknown, retrying: boolean): void;
  setTimer(run: () => void, millis: number): () => void;
}

const WAIT_MS = 120;
const RETRY_MS = 1500;
/** Problems after which the patch itself is still good. */
const TRANSIENT = new Set(["no-connection", "http-502", "http-503", "http-504"]);

export class Sync {
  graphId: string | null = null;
  rev = 0;
  savedRev = 0;
  #waiting: Patch = { ops: [] };
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  readonly #ports: SyncPorts;

  constructor(ports: SyncPorts) {
    this.#ports = ports;
  }

  /** Is everything at the host? */
  get settled(): boolean {
    return this.#waiting.ops.length === 0 && this.#sending === null;
  }

  get dirty(): boolean {
    return this.rev !== this.savedRev || !this.settled;
  }

  open(graphId: string | null, rev: number, savedRev: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#waiting = { ops: [] };
    this.graphId = graphId;
    this.rev = rev;
    this.savedRev = savedRev;
    this.#ports.onChange();
  }

  push(patch: Patch): void {
    if (patch.ops.length === 0 || this.graphId === null) return;
    this.#waiting = joined(this.#waiting, patch);
    this.#cancelTimer ??= this.#ports.setTimer(() => void this.flush(), WAIT_MS);
    this.#ports.onChange();
  }

  saved(savedRev: number): void {
    this.savedRev = savedRev;
    this.#ports.onChange();
  }

  /** Sends what waits; resolves when the host has everything. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (;;) {
      if (this.#sending) {
        await this.#sending;
        continue;
      }
      if (this.#waiting.ops.length === 0 || this.graphId === null) return;
      const patch = this.#waiting;
      this.#waiting = { ops: [] };
      let again = false;
      this.#sending = this.#send(this.graphId, patch).then((retry) => {
        again = retry;
        this.#sending = null;
        this.#ports.onChange();
      });
      await this.#sending;
      if (again) return;
    }
  }

  /** Answers whether the patch waits for another try. */
  async #send(graphId: string, patch: Patch): Promise<boolean> {
    try {
      const applied = await this.#ports.send({ graphId, baseRev: this.rev, ops: [...patch.ops] });
      if (this.graphId !== graphId) return false;
      this.rev = applied.rev;
      this.#ports.onChecked(applied);
      return false;
    } catch (problem) {
      if (this.graphId !== graphId) return false;
      const code =
        typeof problem === "object" && problem !== null && "code" in problem ? problem.code : undefined;
      if (typeof code === "string" && TRANSIENT.has(code)) {
        this.#waiting = joined(patch, this.#waiting);
        this.#cancelTimer ??= this.#ports.setTimer(() => void this.flush(), RETRY_MS);
        this.#ports.onProblem(problem, true);
        return true;
      }
      this.#waiting = { ops: [] };
      this.#ports.onProblem(problem, false);
      await this.#ports.reload(graphId);
      return false;
    }
  }
}
