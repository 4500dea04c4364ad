/** A host that answers for one made thread and nothing else, and counts what is asked. */
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { EventBatch } from "../../ipc/bindings/EventBatch";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import type { Host } from "../../ipc/host";
import { type Made, snapshotOf, THREAD } from "./thread";

const kind = (name: string, icon: string): NodeKind => ({
  kind: name,
  title: name === "assign" ? "Assign" : "Model",
  summary: "",
  icon,
  group: "state",
  aliases: [],
  configSchema: {},
  defaults: {},
  card: [],
  inside: false,
});

const RECORDS = [
  { id: "doc", value: { format: "superstep/1", name: "Bench" } },
  ...["plan", "search", "think", "check"].flatMap((node, at, all) => [
    { id: `node:${node}`, value: { kind: node === "think" ? "model" : "assign", config: {} } },
    { id: `edge:${node}`, value: { from: node, to: all[(at + 1) % all.length] } },
    { id: `layout:${node}`, value: [80 + at * 260, 80] },
  ]),
  { id: "edge:start", value: { from: "__start__", to: "plan" } },
  { id: "layout:__start__", value: [-60, 90] },
];

export class BenchHost implements Host {
  readonly kind = "web";
  /** Snapshots that were asked for, and how many at once. */
  snapshots = 0;
  #under = 0;
  most = 0;
  #seq = 0;
  #listeners = new Set<(batch: EventBatch) => void>();
  readonly #made: Made;
  readonly #byId: ReadonlyMap<string, Made["checkpoints"][number]>;

  constructor(made: Made) {
    this.#made = made;
    this.#byId = new Map(made.checkpoints.map((checkpoint) => [checkpoint.id, checkpoint]));
  }

  emit(events: readonly AppEvent[]): void {
    this.#seq += 1;
    for (const listener of this.#listeners) listener({ seq: this.#seq, events: [...events] });
  }

  async rpc(command: string, request: unknown): Promise<unknown> {
    const asked = request as { checkpointId?: string; before?: string; limit?: number };
    const { checkpoints, runs, spans } = this.#made;
    const head = checkpoints[0];
    switch (command) {
      case "app.info":
        return {
          version: "",
          dataDir: "",
          graphsDir: "",
          examples: [],
          recents: [],
          kinds: [kind("assign", "equal"), kind("model", "bot")],
          settings: { theme: "system", language: "system", follow: false, welcomed: true },
          open: [{ graphId: "bench" }],
        };
      case "graph.get":
        return {
          graphId: "bench",
          name: "Bench",
          records: RECORDS,
          rev: 1,
          savedRev: 1,
          diagnostics: [],
          leads: {},
        };
      case "thread.list":
        return { threads: [this.#thread()], total: 1 };
      case "thread.get":
        return this.#thread();
      case "thread.checkpoints": {
        const from =
          asked.before === undefined ? 0 : checkpoints.findIndex(({ id }) => id === asked.before) + 1;
        const to = from + (asked.limit === undefined || asked.limit === 0 ? 500 : asked.limit);
        return { checkpoints: checkpoints.slice(from, to), more: to < checkpoints.length, runs };
      }
      case "thread.trace":
        return { runs, spans, leftOut: false, last: spans.length };
      case "thread.snapshot": {
        this.snapshots += 1;
        this.#under += 1;
        this.most = Math.max(this.most, this.#under);
        // As long as a database takes.
        await new Promise((done) => setTimeout(done, 8));
        this.#under -= 1;
        const checkpoint = asked.checkpointId === undefined ? head : this.#byId.get(asked.checkpointId);
        return snapshotOf(checkpoint, checkpoint === head);
      }
      case "inbox.list":
        return { questions: [], total: 0 };
      case "thread.events":
        return { events: [], leftOut: false, last: 0 };
      default:
        return new Promise(() => {});
    }
  }

  #thread() {
    const head = this.#made.checkpoints[0];
    const at = head?.at ?? "";
    return {
      threadId: THREAD,
      title: "Bench",
      graphName: "Bench",
      status: "done",
      next: [],
      questions: 0,
      checkpoints: this.#made.checkpoints.length,
      step: head?.step ?? 0,
      createdAt: at,
      updatedAt: at,
    };
  }

  subscribe(onBatch: (batch: EventBatch) => void): () => void {
    this.#listeners.add(onBatch);
    return () => this.#listeners.delete(onBatch);
  }

  watchConnection(onChange: (connection: "open") => void): () => void {
    onChange("open");
    return () => {};
  }

  setTitle(): void {}
}
