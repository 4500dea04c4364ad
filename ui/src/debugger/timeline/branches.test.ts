import { expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { branchesOf } from "./branches";

const checkpoint = (id: string, parent?: string, more: Partial<CheckpointView> = {}): CheckpointView => ({
  id,
  at: "2026-01-01T00:00:00Z",
  source: "loop",
  step: 0,
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
  ...(parent !== undefined && { parent }),
  ...more,
});

const brief = (list: CheckpointView[]) =>
  branchesOf(list).map(({ number, tip, first, chain, steps, cause, name }) => [
    number,
    tip.id,
    first.id,
    chain.nodes.length,
    steps,
    cause,
    name,
  ]);

it("is one without a fork", () => {
  expect(brief([checkpoint("b", "a"), checkpoint("a", undefined, { source: "input" })])).toEqual([
    [1, "b", "a", 2, 1, "trunk", undefined],
  ]);
  expect(brief([])).toEqual([]);
});

it("begins where it parted from an older one, with what made it", () => {
  // a b c is the first run; e edits b, f replays from a, g continues e.
  const list = [
    checkpoint("g", "e"),
    checkpoint("f", "a", { source: "fork" }),
    checkpoint("e", "b", { source: "update", bookmark: "cheaper" }),
    checkpoint("c", "b"),
    checkpoint("b", "a"),
    checkpoint("a", undefined, { source: "input" }),
  ];
  expect(brief(list)).toEqual([
    [2, "g", "e", 2, 1, "edit", "cheaper"],
    [3, "f", "f", 1, 0, "replay", undefined],
    [1, "c", "a", 3, 2, "trunk", undefined],
  ]);
});

it("takes a branch whose beginning is not loaded for what is there", () => {
  expect(brief([checkpoint("d", "c"), checkpoint("c", "gone")])).toEqual([
    [1, "d", "c", 2, 2, "trunk", undefined],
  ]);
});

it("takes a copy of the first checkpoint for a replay", () => {
  const list = [
    checkpoint("c", undefined, { source: "fork" }),
    checkpoint("b", "a"),
    checkpoint("a", undefined, { source: "input" }),
  ];
  expect(brief(list)).toEqual([
    [2, "c", "c", 1, 0, "replay", undefined],
    [1, "b", "a", 2, 1, "trunk", undefined],
  ]);
});
