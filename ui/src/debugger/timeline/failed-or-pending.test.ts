import { expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { timelineOf } from "./rows";
import { unsettled } from "./failed-or-pending";

const checkpoint = (id: string, parent?: string, more: Partial<CheckpointView> = {}): CheckpointView => ({
  id,
  at: "",
  source: "loop",
  step: 1,
  next: ["work"],
  updated: [],
  questions: 0,
  failed: 0,
  ...(parent !== undefined && { parent }),
  ...more,
});

const shown = (list: readonly CheckpointView[]) =>
  unsettled(timelineOf(list).rows).map((entry) => entry.kind === "row" && list[entry.at]?.id);

it("keeps what failed, what asks, and branches that stop short of their end", () => {
  const list = [
    // A branch that stopped at a breakpoint, one that asks, and the one that went to its end.
    checkpoint("stopped", "fork"),
    checkpoint("asks", "fork", { questions: 1 }),
    checkpoint("end", "failed", { next: [] }),
    checkpoint("failed", "fork", { failed: 2 }),
    checkpoint("fork", "input"),
    checkpoint("input", undefined, { source: "input" }),
  ];
  expect(shown(list)).toEqual(["stopped", "asks", "failed"]);
});

it("keeps nothing of a thread that went to its end, and drops a question once it is answered", () => {
  const list = (questions: number) => [
    checkpoint("end", "asked", { next: [] }),
    checkpoint("asked", "input", { questions }),
    checkpoint("input", undefined, { source: "input" }),
  ];
  expect(shown(list(1))).toEqual(["asked"]);
  expect(shown(list(0))).toEqual([]);
});
