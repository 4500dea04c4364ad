import { expect, test } from "vitest";
import type { ValueWriteView } from "../../ipc/bindings/ValueWriteView";
import { answerTexts, chain, givenTexts, possibleReads, provenanceText } from "./provenance";

const write = (pointer: string, readBy?: number): ValueWriteView => ({
  pointer,
  ...(readBy !== undefined && { readBy }),
  checkpoint: {
    id: pointer,
    at: "",
    source: "loop",
    step: 3,
    next: [],
    updated: [],
    questions: 0,
    failed: false,
  } as never,
  change: "changed",
  after: { kind: "number", bytes: 1, length: 0, value: 7 },
  origin: "task",
  writers: [{ node: "sum", taskId: "t", reads: { kind: "all" } }],
});

test("what a write read stands right below it", () => {
  const rows = chain([write("/total"), write("/price", 0), write("/count", 0), write("/rate", 1)]);
  expect(rows.map(({ write: { pointer }, depth }) => `${depth} ${pointer}`)).toEqual([
    "0 /total",
    "1 /price",
    "2 /rate",
    "1 /count",
  ]);
});

test("what several tasks were given is said once", () => {
  const packet = (taskId: string, sentBy: string[]) => ({
    node: "item",
    taskId,
    packet: true,
    sentBy,
    reads: { kind: "all" as const },
  });
  const writers = [packet("a", ["prepare"]), packet("b", ["prepare"]), packet("c", ["redo"])];
  expect(givenTexts({ ...write("/results"), writers })).toEqual([
    "Given by a packet from prepare",
    "Given by a packet from redo",
  ]);
  expect(givenTexts({ ...write("/results"), origin: "input", writers })).toEqual([]);
  const cell = { kind: "object", bytes: 11, length: 1, value: { cell: 93 } };
  const of = [{ ...packet("a", ["prepare"]), input: cell }];
  expect(givenTexts({ ...write("/results/93/v"), writers: of })).toEqual([
    "Given by a packet from prepare: {cell: 93}",
  ]);
});

test("an answer is named with its question", () => {
  const text = (value: unknown) => ({ kind: "string", bytes: 5, length: 5, value });
  const asked = {
    ...write("/note"),
    writers: [
      {
        node: "ask",
        taskId: "t",
        reads: { kind: "keys" as const, keys: [] },
        answers: [{ answer: text("yes") }, { question: text({ question: "Why?" }), answer: text("because") }],
      },
    ],
  };
  expect(answerTexts(asked)).toEqual(["Answer to a question: yes", "Answer to “Why?”: because"]);
  expect(provenanceText("note", chain([asked]))).toContain("Answer to “Why?”: because");
});

test("a value that is older than what was looked through says so, and is not called lost", () => {
  const older = { ...write("/log/0"), origin: "older" as const, writers: [] };
  expect(provenanceText("log", chain([older]))).toContain("older than the values looked through");
});

test("what a task may have read is each key once, and not claimed", () => {
  const unseen = (key: string, more: boolean) => ({
    node: "sum",
    taskId: key,
    reads: { kind: "unknown" as const },
    mayHaveRead: [
      { key, checkpointId: "c", step: 2 },
      { key: "rate", checkpointId: "b", step: 1 },
    ],
    ...(more && { mayHaveReadMore: true }),
  });
  const wrote = { ...write("/total"), writers: [unseen("price", false), unseen("count", true)] };
  const { keys, more } = possibleReads(wrote);
  expect([keys.map(({ key }) => key), more]).toEqual([["price", "rate", "count"], true]);
  expect(provenanceText("total", chain([wrote]))).toContain(
    "may have read: price (step 2), rate (step 1), count (step 2), and more",
  );
});

test("the chain reads as a list, what was read below what read it", () => {
  expect(provenanceText("total", chain([write("/total"), write("/price/0", 0)]))).toBe(
    [
      "# Who wrote total",
      "",
      "- `total`: not set → `7` (Step 3, by sum, Keys read: all)",
      "  - `price[0]`: not set → `7` (Step 3, by sum, Keys read: all)",
    ].join("\n"),
  );
});
