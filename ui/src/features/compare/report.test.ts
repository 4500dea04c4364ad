import { expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { Comparison } from "../../ipc/bindings/Comparison";
import type { PathStep } from "../../ipc/bindings/PathStep";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { comparisonText } from "./report";

const checkpoint = (id: string, step: number): CheckpointView => ({
  id,
  step,
  at: "",
  source: "loop",
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
});
const step = (n: number, ...nodes: string[]): PathStep => ({
  id: `c${n}`,
  step: n,
  source: "loop",
  nodes: nodes.map((node) => ({ node, runs: 1 })),
});
const view = (value: unknown): ValueView => ({ kind: "number", bytes: 1, length: 1, value });

const answer: Comparison = {
  left: checkpoint("a", 3),
  right: checkpoint("b", 4),
  paths: {
    stretches: [
      { same: true, left: [step(1, "draft")], right: [step(1, "draft")] },
      { same: false, left: [step(2, "pay")], right: [step(2, "ask"), step(3, "pay")] },
    ],
    onlyLeft: [],
    onlyRight: ["ask"],
    cut: false,
  },
  differences: [
    { pointer: "/total", change: "changed", left: view(1), right: view(2) },
    { pointer: "/bill", change: "added", right: view("b") },
    { pointer: "/rows/2", leftPointer: "/rows/0", change: "moved", left: view(1), right: view(1) },
  ],
  equalKeys: ["n"],
  truncated: false,
};

it("reports both sides, where they parted, and what differs", () => {
  expect(comparisonText(answer, { left: "t1", right: "t2" }, answer.differences)).toBe(
    [
      "# Compare",
      "",
      "- Left: thread `t1` · Step 3 · checkpoint `a`",
      "- Right: thread `t2` · Step 4 · checkpoint `b`",
      "",
      "## Path",
      "",
      "- 1 equal step",
      "- First divergence",
      "- Left: 2 pay",
      "- Right: 2 ask, 3 pay",
      "- Only right: ask",
      "",
      "## 3 differences",
      "",
      "- `total`: `1` → `2`",
      "- `bill` (new): not set → `b`",
      "- `rows[2]`: moved from rows[0]",
      "",
      "1 equal key: n",
    ].join("\n"),
  );
});

it("says how many differences are left out", () => {
  const text = comparisonText(answer, { left: "t1", right: "t2" }, answer.differences.slice(0, 1));
  expect(text).toContain("## 1 difference\n\n- `total`: `1` → `2`\n- 2 differences ignored");
});
