import { expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { type Entry, entryOf, folded, opened, ranIn, rowBy } from "./fold";
import { timelineOf } from "./rows";

/** A thread of a number of steps, newest first; `special` changes single ones. */
function thread(length: number, special: Record<number, Partial<CheckpointView>> = {}): CheckpointView[] {
  return Array.from({ length }, (_, at) => {
    const step = length - 1 - at;
    return {
      id: `c${step}`,
      at: "",
      source: step === 0 ? "input" : "loop",
      step,
      next: [step % 4 === 3 ? "check" : "work"],
      updated: [],
      questions: 0,
      failed: 0,
      ...(step > 0 && { parent: `c${step - 1}` }),
      ...special[step],
    };
  });
}

const brief = (entries: readonly Entry[], list: CheckpointView[]) =>
  entries.map((entry) =>
    entry.kind === "row" ? list[entry.at]?.id : `${list[entry.from]?.id}…${list[entry.to - 1]?.id}`,
  );

it("folds the steps between the newest and the input", () => {
  const list = thread(12);
  const { rows } = timelineOf(list);
  expect(
    brief(
      folded(rows, () => false),
      list,
    ),
  ).toEqual(["c11", "c10…c1", "c0"]);
  expect(ranIn(rows.slice(1, 11))).toEqual([
    ["work", 8],
    ["check", 2],
  ]);
});

it("opens at the row that is shown, and folds on both sides of it what is worth it", () => {
  const list = thread(30);
  const entries = folded(timelineOf(list).rows, () => false);
  const at = (row: number) => brief(opened(entries, row), list);
  expect(at(10)).toEqual(["c29", "c28…c20", "c19", "c18…c1", "c0"]);
  expect(at(4)).toEqual(["c29", "c28", "c27", "c26", "c25", "c24…c1", "c0"]);
  expect(at(28)).toEqual(["c29", "c28…c2", "c1", "c0"]);
  expect(at(0)).toEqual(["c29", "c28…c1", "c0"]);
  expect(at(1), "the newest stands for all").toEqual(["c29", "c28…c1", "c0"]);
  expect(entryOf(opened(entries, 10), 10)).toBe(2);
});

it("shows what was selected, what asks, failed, was edited or is bookmarked", () => {
  const list = thread(30, { 20: { questions: 1 }, 15: { failed: 1 }, 8: { bookmark: "here" } });
  const entries = folded(timelineOf(list).rows, (id) => id === "c25");
  expect(brief(entries, list)).toEqual([
    "c29",
    "c28",
    "c27",
    "c26",
    "c25",
    "c24…c21",
    "c20",
    "c19…c16",
    "c15",
    "c14…c9",
    "c8",
    "c7…c1",
    "c0",
  ]);
});

it("folds no fork and nothing across one, and every row is in one entry", () => {
  const trunk = thread(20);
  const fork = [
    { ...thread(1)[0]!, id: "f2", parent: "f1", source: "loop" },
    { ...thread(1)[0]!, id: "f1", parent: "c10", source: "update" },
  ];
  const list = [...fork, ...trunk];
  const entries = folded(timelineOf(list).rows, () => false);
  expect(brief(entries, list)).toEqual(["f2", "f1", "c19", "c18…c11", "c10", "c9…c1", "c0"]);
  const rows = list.map((_, at) => entryOf(entries, at));
  expect(rows.every((entry) => entry >= 0)).toBe(true);
  expect(rows).toEqual(rows.toSorted((a, b) => a - b));
});

it("folds a thread of 10,000 checkpoints to a few rows", () => {
  expect(folded(timelineOf(thread(10_000)).rows, () => false)).toHaveLength(3);
});

it("leaves a turn its input, and a loop nothing of its rounds", () => {
  expect(opened([{ kind: "turn", from: 0, to: 12 }], 5)).toEqual([
    { kind: "stretch", from: 0, to: 5 },
    { kind: "row", at: 5 },
    { kind: "turn", from: 6, to: 12 },
  ]);
  expect(opened([{ kind: "loop", from: 0, to: 12, rounds: 6 }], 6).map(({ kind }) => kind)).toEqual([
    "stretch",
    "row",
    "stretch",
  ]);
});

it("walks by what is shown: from a row that is not, to those beside it", () => {
  const rows = [3, 7, 9].map((at): Entry => ({ kind: "row", at }));
  expect([rowBy(rows, 3, 1), rowBy(rows, 9, 1), rowBy(rows, 7, -1), rowBy(rows, 8, 1)]).toEqual([7, 9, 3, 9]);
  expect([rowBy(rows, 7, -100), rowBy(rows, 7, 100), rowBy([], 5, 1)]).toEqual([3, 9, 5]);
  expect(rowBy([{ kind: "stretch", from: 0, to: 4 }, ...rows], 7, -2)).toBe(0);
});
