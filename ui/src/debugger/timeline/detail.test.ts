import { describe, expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { atDetail, type Detail, DETAILS, turnNumbers } from "./detail";
import { entryOf } from "./fold";
import { timelineOf } from "./rows";

/** A branch of which each checkpoint says what runs next; newest first. `>` is an input, a word the node that ran. */
function thread(
  words: readonly string[],
  special: Record<number, Partial<CheckpointView>> = {},
): CheckpointView[] {
  return words
    .map((word, step): CheckpointView => ({
      id: `c${step}`,
      at: "",
      source: word === ">" ? "input" : "loop",
      step,
      next: [words[step + 1] ?? ""].filter((next) => next !== "" && next !== ">"),
      updated: [],
      questions: 0,
      failed: 0,
      ...(step > 0 && { parent: `c${step - 1}` }),
      ...special[step],
    }))
    .toReversed();
}

/** The entries as text, newest first. */
const shown = (list: readonly CheckpointView[], detail: Detail, kept: readonly string[] = []) => {
  const { rows } = timelineOf(list);
  return atDetail(rows, detail, (id) => kept.includes(id)).map((entry) => {
    if (entry.kind === "row") return list[entry.at]?.id;
    const range = `${list[entry.from]?.id}…${list[entry.to - 1]?.id}`;
    return entry.kind === "loop" ? `${range} ×${entry.rounds}` : `${entry.kind} ${range}`;
  });
};
const times = (n: number, ...words: string[]) => Array.from({ length: n }, () => words).flat();

describe("loops", () => {
  it("are one row with their rounds, and what is before and after them stays", () => {
    const list = thread([">", "begin", ...times(24, "think", "act"), "close", "end"]);
    expect(shown(list, "loops")).toEqual(["c51", "c50", "c49…c2 ×24", "c1", "c0"]);
  });

  it("may take another way in each round", () => {
    const list = thread([">", "think", "search", "think", "read", "save", "think", "search", "think", "say"]);
    expect(shown(list, "loops")).toEqual(["c9", "c8…c1 ×4", "c0"]);
  });

  it("are told apart when they follow each other, and a straight line has none", () => {
    const list = thread([">", ...times(5, "a"), "middle", ...times(8, "b", "c"), "end", "last"]);
    expect(shown(list, "loops")).toEqual(["c24", "c23", "c22…c7 ×8", "c6", "c5…c1 ×5", "c0"]);
    expect(shown(thread([">", "a", "b", "c", "d", "e", "f"]), "loops")).toHaveLength(7);
  });

  it("keep what asks, failed or is compared a row of its own", () => {
    const list = thread([">", ...times(30, "a"), "end"], { 10: { questions: 1 }, 20: { failed: 1 } });
    expect(shown(list, "loops", ["c25"])).toEqual([
      "c31",
      "c30…c26 ×5",
      "c25",
      "c24…c21 ×4",
      "c20",
      "c19…c11 ×9",
      "c10",
      "c9…c1 ×9",
      "c0",
    ]);
  });
});

describe("turns", () => {
  const chat = thread([">", "model", ">", "model", "tool", "model", ">", "model"]);

  it("are one row each, the newest too", () => {
    expect(shown(chat, "turns")).toEqual(["turn c7…c6", "turn c5…c2", "turn c1…c0"]);
    const numbers = turnNumbers(timelineOf(chat).rows);
    expect(["c7", "c5", "c2", "c1"].map((id) => numbers.get(id))).toEqual([3, 2, 2, 1]);
  });

  it("have questions and failures in them, and leave bookmarks and what was unfolded", () => {
    const marked = thread([">", "model", ">", "model", "tool", "model", ">", "model"], {
      3: { failed: 1 },
      4: { bookmark: "here" },
    });
    expect(shown(marked, "turns")).toEqual(["turn c7…c6", "c5", "c4", "turn c3…c2", "turn c1…c0"]);
    expect(shown(chat, "turns", ["c5", "c4", "c3", "c2"])).toEqual([
      "turn c7…c6",
      "c5",
      "c4",
      "c3",
      "c2",
      "turn c1…c0",
    ]);
  });

  it("end at a fork", () => {
    const fork = [
      { ...thread([">"])[0]!, id: "f2", parent: "f1", source: "loop" },
      { ...thread([">"])[0]!, id: "f1", parent: "c3", source: "input" },
    ];
    expect(shown([...fork, ...chat], "turns")).toEqual([
      "turn f2…f1",
      "turn c7…c6",
      "stretch c5…c4",
      "c3",
      "c2",
      "turn c1…c0",
    ]);
  });

  it("have no number while the beginning of the thread is not read", () => {
    expect(turnNumbers(timelineOf(chat.slice(0, 4)).rows).size).toBe(0);
  });
});

it("every row is in one entry at each level, and each level shows no less than the one before", () => {
  const list = thread(
    times(40, ">", "model", "tool", "model", "tool", "model", "write", "check", "write", "check"),
    { 33: { failed: 1 }, 77: { bookmark: "x" } },
  );
  const { rows } = timelineOf(list);
  const lengths = DETAILS.map((detail) => {
    const entries = atDetail(rows, detail, () => false);
    const covered = entries.flatMap((entry) =>
      entry.kind === "row"
        ? [entry.at]
        : Array.from({ length: entry.to - entry.from }, (_, n) => entry.from + n),
    );
    expect(covered).toEqual(rows.map((_, at) => at));
    expect(entryOf(entries, 120)).toBe(
      entries.findIndex((one) => (one.kind === "row" ? one.at === 120 : one.from <= 120 && 120 < one.to)),
    );
    return entries.length;
  });
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  expect(lengths[0]).toBeLessThan(50);
});

it("takes a thread of 20,000 checkpoints, also of many loops", () => {
  const one = timelineOf(thread([">", ...times(10_000, "think", "act")])).rows;
  expect(atDetail(one, "loops", () => false)).toHaveLength(3);
  const many = Array.from({ length: 1000 }, (_, n) => times(5, `a${n}`, `b${n}`, "c", `d${n}`));
  const { rows } = timelineOf(thread([">", ...many.flat()]));
  expect(atDetail(rows, "loops", () => false).length).toBeLessThan(20_000);
});
