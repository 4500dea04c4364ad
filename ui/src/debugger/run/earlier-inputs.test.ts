import { beforeEach, expect, it } from "vitest";
import type { Command } from "../../ipc/commands";
import type { Host } from "../../ipc/host";
import { replaceHost } from "../../ipc/client";
import { inputsOf } from "./earlier-inputs";

const whole = (value: unknown) => ({ kind: "", bytes: 1, length: 1, value });
const big = (length: number) => ({ kind: "array", bytes: 90_000, length, head: "…" });
const key = (name: string, reducer: string, value: object, previous?: object) => ({
  key: name,
  reducer,
  value,
  previous,
});

const start = (result: object) => ({ tasks: [{ node: "__start__", result }], keys: [] });

/** A conversation, whose last two inputs are too large to come along, and a sum that begins at 10. */
const SNAPSHOTS: Record<string, object> = {
  "talk/c5": start(big(3)),
  "talk/c6": {
    tasks: [],
    keys: [key("log", "append", big(3), big(2)), key("out", "overwrite", whole("kept"))],
  },
  "talk/c3": start(big(2)),
  "talk/c4": {
    tasks: [],
    keys: [
      key("log", "append", big(2), whole(["a"])),
      key("messages", "add_messages", whole([{ type: "human", content: "long", id: "m1" }])),
    ],
  },
  "talk/c1": start(whole({ messages: [{ type: "human", content: "hello" }] })),
  "sum/s1": start(big(1)),
  "sum/s2": { tasks: [], keys: [key("total", "add", whole(13))] },
  "again/a1": start(whole({ total: 3 })),
  "resumed/r1": { tasks: [], keys: [] },
};
const VALUES: Record<string, unknown> = {
  "talk/c6": ["a", "b", "c"],
  "talk/c4": ["a", "b"],
  "talk/c5": ["a", "b"],
};
const CHECKPOINTS: Record<string, object[]> = {
  talk: [
    { id: "c6", parent: "c5", source: "loop", updated: ["log"] },
    { id: "c5", parent: "c4", source: "input", updated: [] },
    { id: "c4", parent: "c3", source: "loop", updated: ["log", "messages"] },
    { id: "c3", parent: "c2", source: "input", updated: [] },
    { id: "c2", parent: "c1", source: "loop", updated: [] },
    { id: "c1", source: "input", updated: [] },
  ],
  sum: [
    { id: "s2", parent: "s1", source: "loop", updated: ["total"] },
    { id: "s1", source: "input", updated: [] },
  ],
  resumed: [{ id: "r1", source: "input", updated: [] }],
  again: [{ id: "a1", source: "input", updated: [] }],
};

const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  replaceHost({
    kind: "web",
    rpc: (
      command: Command,
      request: { threadId: string; checkpointId: string; after?: string; before?: string },
    ) => {
      asked.push(command);
      const place = `${request.threadId}/${request.checkpointId}`;
      const list = CHECKPOINTS[request.threadId] ?? [];
      switch (command) {
        case "thread.list":
          return Promise.resolve(
            request.after === undefined
              ? { threads: [{ threadId: "talk" }, { threadId: "sum" }], next: "2" }
              : { threads: [{ threadId: "resumed" }, { threadId: "again" }] },
          );
        case "thread.checkpoints":
          // Pages of two.
          const from = list.findIndex((each) => (each as { id: string }).id === request.before) + 1;
          return Promise.resolve({
            checkpoints: list.slice(from, from + 2),
            more: from + 2 < list.length,
            runs: [],
          });
        case "thread.snapshot":
          return Promise.resolve(SNAPSHOTS[place]);
        case "thread.value":
          return Promise.resolve(whole(VALUES[place]));
        default:
          throw new Error(command);
      }
    },
  } as unknown as Host);
});

it("tells each input from its checkpoints, the newest first, each once", async () => {
  const found = [];
  for await (const input of inputsOf("g", (name) => (name === "total" ? 10 : undefined))) found.push(input);
  expect(found).toEqual([
    { log: ["c"] },
    { log: ["b"], messages: [{ type: "human", content: "long" }] },
    { messages: [{ type: "human", content: "hello" }] },
    { total: 3 },
  ]);
});

it("reads no more threads than the walk has reached", async () => {
  const walk = inputsOf("g", () => undefined);
  await walk.next();
  expect(asked.filter((command) => command === "thread.snapshot")).toHaveLength(2);
});
