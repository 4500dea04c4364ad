import { expect, test } from "vitest";
import type { Span } from "./tree";
import { compareByNode, tookAll } from "./compare-runs";

let count = 0;
const span = (node: string, from: number, to: number, more: Partial<Span> = {}): Span => ({
  runId: "r",
  taskId: `t${(count += 1)}`,
  checkpointId: "c",
  node,
  step: 1,
  started: from,
  ended: to,
  end: "done",
  ...more,
});

test("the node that took longer on the right comes first, and one of one side is on that side only", () => {
  const rows = compareByNode(
    [span("fetch", 0, 100), span("write", 100, 150), span("check", 150, 160)],
    [span("fetch", 0, 120), span("write", 120, 900), span("repair", 900, 905)],
  );
  expect(rows.map(({ node, more }) => [node, more])).toEqual([
    ["write", 730],
    ["fetch", 20],
    ["check", -10],
    ["repair", 5],
  ]);
  expect(rows[2]?.right).toBeUndefined();
  expect(rows[3]?.left).toBeUndefined();
  expect([tookAll(rows, "left"), tookAll(rows, "right")]).toEqual([160, 905]);
});

test("repeated visits are summed, and the longest of them is known", () => {
  const [row] = compareByNode([], [span("loop", 0, 10), span("loop", 10, 60), span("loop", 60, 80)]);
  expect(row?.right).toMatchObject({ visits: 3, millis: 80 });
  expect(row?.right?.longest.started).toBe(10);
});

test("what is inside of a node counts for the nodes there", () => {
  const outer = span("desk", 0, 1000, { taskId: "outer" });
  const rows = compareByNode([], [outer, span("ask", 100, 700, { parent: "outer" })]);
  expect(rows.map(({ node, more }) => [node, more])).toEqual([
    ["ask", 600],
    ["desk", 400],
  ]);
  // Tasks side by side inside may take longer in sum than the node around them.
  const wide = compareByNode(
    [],
    [outer, span("a", 0, 900, { parent: "outer" }), span("b", 0, 900, { parent: "outer" })],
  );
  expect(wide.find(({ node }) => node === "desk")?.more).toBe(0);
});

test("waiting is apart from work: for a place, and before another attempt", () => {
  const [row] = compareByNode(
    [],
    [
      span("call", 0, 1000, {
        waits: [{ from: 0, to: 300 }],
        attempts: [{ attempt: 1, ended: 400, error: "no", waitMillis: 200 }],
      }),
    ],
  );
  expect(row?.right).toMatchObject({ millis: 500, waited: 500, retries: 1 });
  expect(row?.more).toBe(1000);
});

test("tokens and money are summed by side, and a call without a price is counted", () => {
  const call = (cost?: number) => ({
    model: "m",
    at: 0,
    millis: 1,
    ended: "done" as const,
    tokens: { input: 10, output: 5 },
    ...(cost !== undefined && { cost: { amount: cost, currency: "USD" } }),
  });
  const [row] = compareByNode(
    [span("say", 0, 1, { calls: [call(0.5), call(0.25)] })],
    [span("say", 0, 1, { calls: [call()] })],
  );
  expect(row?.left).toMatchObject({ tokens: 30, unpriced: 0 });
  expect(row?.left?.cost.get("USD")).toBe(0.75);
  expect(row?.right).toMatchObject({ tokens: 15, unpriced: 1 });
});
