import { expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { withoutAsides } from "./without-what-ifs";
import { branchesOf } from "./branches";

const checkpoint = (id: string, parent: string | undefined, row?: number): CheckpointView => ({
  id,
  at: "",
  source: parent === undefined ? "input" : "loop",
  step: 0,
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
  ...(parent !== undefined && { parent }),
  ...(row !== undefined && { whatIf: { grid: "g", row, repeat: 0 } }),
});

/** A thread a, c, d, and two rows of a grid that begin at a; newest first. */
const list = [
  checkpoint("d", "c"),
  checkpoint("c", "a"),
  checkpoint("b4", "b3", 1),
  checkpoint("b3", "a", 1),
  checkpoint("b2", "b1", 0),
  checkpoint("b1", "a", 0),
  checkpoint("a", undefined),
];
const ids = (of: readonly CheckpointView[]) => of.map(({ id }) => id).join(" ");

it("leaves out rows of grids, but not the one that is shown", () => {
  expect(ids(withoutAsides(list, [null]))).toBe("d c a");
  expect(ids(withoutAsides(list, ["b1", null]))).toBe("d c b2 b1 a");
});

it("gives back a list without any as it is", () => {
  const plain = list.slice(0, 2);
  expect(withoutAsides(plain, [])).toBe(plain);
});

it("counts a row as a branch of its own, and the thread's line as one that goes on", () => {
  const branches = branchesOf(list);
  expect(branches.map(({ tip, cause, number }) => [tip.id, cause, number])).toEqual([
    ["d", "trunk", 1],
    ["b4", "whatIf", 0],
    ["b2", "whatIf", 0],
  ]);
  expect(branches[0]?.chain.nodes.map(({ checkpoint: { id } }) => id)).toEqual(["a", "c", "d"]);
});

it("keeps the end of a branch that only rows go on from", () => {
  const ended = [checkpoint("b1", "a", 0), checkpoint("a", undefined)];
  expect(branchesOf(ended).map(({ tip }) => tip.id)).toEqual(["b1", "a"]);
});
