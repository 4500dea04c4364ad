/**
 * Keeps the workbench's copy of the open document equal to ours. Edits wait a moment and go over as one patch, one at a
 * time; the answer brings the problems. When the document was changed elsewhere, what waits is put on top of that. After
 * any other refusal it is fetched again, because the host is the authority. A lost connection keeps the edits and tries
 * again; a host that does not know the document any more, because it was started again, opens it again.
 */
import type { Applied } from "../ipc/bindings/Applied";
import type { ApplyPatch } from "../ipc/bindings/ApplyPatch";
import { joined, type Patch } from "./patch";

export interface SyncPorts {
  send(request: ApplyPatch): Promise<Applied>;
  /** Takes what was changed elsewhere and calls `rebased`. Answers false when the host has nothing newer. */
  catchUp(graphId: string): Promise<boolean>;
  /** The host has another document than ours: fetch it and take it. */
  reload(graphId: string): Promise<void>;
  /** The host does not know the document any more: open it again. Answers whether that worked. */
  reopen(): Promise<boolean>;
  onChange(): void;
  /** What checking the document found. */
  onChecked(checked: Pick<Applied, "diagnostics" | "leads">): void;
  /** The host did not take a patch, and it is not tried again. */
  onRefused(problem: unknown): void;
  setTimer(run: () => void, millis: number): () => void;
}

const WAIT_MS = 120;
const RETRY_MS = 1500;
/** Problems after which the patch itself is still good. */
const TRANSIENT = new Set([
  "no-connection",
  "no-token",
  "unauthorized",
  "forbidden",
  "http-502",
  "http-503",
  "http-504",
]);

export class Sync {
  graphId: string | null = null;
  rev = 0;
  savedRev = 0;
  #waiting: Patch = { ops: [] };
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  /** Counts openings: what was sent before one says nothing after it. */
  #opening = 0;
  readonly #touched = new Set<string>();
  /** Was the file behind the document when it was opened, in nobody knows what? */
  #unknown = false;
  readonly #ports: SyncPorts;

  constructor(ports: SyncPorts) {
    this.#ports = ports;
  }

  /** Is everything at the host? */
  get settled(): boolean {
    return this.#waiting.ops.length === 0 && this.#sending === null;
  }

  /** What the host does not have yet, when nothing is on its way. */
  get waiting(): Patch {
    return this.#waiting;
  }

  get dirty(): boolean {
    return this.rev !== this.savedRev || !this.settled;
  }

  /** Is all that is not in the file where nodes stand? */
  get moved(): boolean {
    if (!this.dirty || this.#unknown || this.#touched.size === 0) return false;
    for (const id of this.#touched) if (!id.startsWith("layout:")) return false;
    return true;
  }

  /** Records that were changed here since the file was written. */
  get touched(): ReadonlySet<string> {
    return this.#touched;
  }

  /** `moved` are the nodes whose places alone differ from the file, as was known before. */
  open(graphId: string | null, rev: number, savedRev: number, moved: readonly string[] = []): void {
    this.#touched.clear();
    for (const id of moved) this.#touched.add(id);
    this.#unknown = rev !== savedRev && moved.length === 0;
    this.openAgain(graphId, rev, savedRev);
  }

  /** The same document under a new id; what waits is to be pushed again. */
  openAgain(graphId: string | null, rev: number, savedRev: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#waiting = { ops: [] };
    this.#opening += 1;
    this.graphId = graphId;
    this.rev = rev;
    this.savedRev = savedRev;
    this.#ports.onChange();
  }

  /** The host's document at `rev` is here now, with `patch` on top of it: that waits in place of what waited. */
  rebased(rev: number, savedRev: number, patch: Patch): void {
    this.#waiting = patch;
    this.rev = rev;
    this.savedRev = savedRev;
    // What the other window changed since the file was written is not known.
    this.#unknown = rev !== savedRev;
    if (!this.#unknown) this.#touched.clear();
    for (const { id } of patch.ops) this.#touched.add(id);
    this.#ports.onChange();
  }

  push(patch: Patch): void {
    if (patch.ops.length === 0 || this.graphId === null) return;
    for (const { id } of patch.ops) this.#touched.add(id);
    this.#waiting = joined(this.#waiting, patch);
    this.#cancelTimer ??= this.#ports.setTimer(() => void this.flush(), WAIT_MS);
    this.#ports.onChange();
  }

  saved(savedRev: number): void {
    this.savedRev = savedRev;
    if (!this.dirty) {
      this.#touched.clear();
      this.#unknown = false;
    }
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
    const opening = this.#opening;
    try {
      const applied = await this.#ports.send({ graphId, baseRev: this.rev, ops: [...patch.ops] });
      if (this.#opening !== opening) return false;
      this.rev = applied.rev;
      this.#ports.onChecked(applied);
      return false;
    } catch (problem) {
      if (this.#opening !== opening) return false;
      const code = codeOf(problem);
      if (code === "not-found" || TRANSIENT.has(code)) {
        this.#waiting = joined(patch, this.#waiting);
        if (code === "not-found" && (await this.#ports.reopen())) return false;
        this.#cancelTimer ??= this.#ports.setTimer(() => void this.flush(), RETRY_MS);
        return true;
      }
      if (code === "conflict") {
        this.#waiting = joined(patch, this.#waiting);
        try {
          if (await this.#ports.catchUp(graphId)) return false;
        } catch {
          this.#cancelTimer ??= this.#ports.setTimer(() => void this.flush(), RETRY_MS);
          return true;
        }
      }
      this.#waiting = { ops: [] };
      this.#ports.onRefused(problem);
      await this.#ports.reload(graphId);
      return false;
    }
  }
}

const codeOf = (problem: unknown): string =>
  typeof problem === "object" && problem !== null && "code" in problem ? String(problem.code) : "";
