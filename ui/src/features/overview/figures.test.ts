import { describe, expect, test } from "vitest";
import type { RunLine } from "../../ipc/bindings/RunLine";
import { barsOf, costText, groupText, periodOf, sameGroup, statusOf } from "./figures";

describe("figures of an overview", () => {
  test("a period ends now; all of them has no beginning", () => {
    expect(periodOf("day", null, 86_400_000 * 3)).toEqual({ since: 86_400_000 * 2 });
    expect(periodOf("week", "/g.json", 86_400_000 * 8)).toEqual({ since: 86_400_000, graph: "/g.json" });
    expect(periodOf("all", null, 5)).toEqual({});
  });

  test("a cost says when it is not all of it, and when there is none", () => {
    const usd = [{ amount: 0.25, currency: "USD" }];
    expect(costText([], 0)).toBe("–");
    expect(costText(usd, 0)).toBe("0.25\u202fUSD");
    expect(costText(usd, 2)).toBe("0.25\u202fUSD + ?");
    expect(costText([], 1)).toBe("no price");
  });

  test("a list is called by its figure", () => {
    expect(groupText({ type: "outcome", outcome: "waiting" })).toBe("Waiting");
    expect(groupText({ type: "failure", graph: "g", node: "pay", class: "TimeoutError" })).toBe(
      "TimeoutError in pay",
    );
    expect(groupText({ type: "longest" })).toBe("Done, the longest first");
    expect(sameGroup({ type: "node", graph: "g", node: "a" }, { type: "node", graph: "g", node: "b" })).toBe(
      false,
    );
  });

  test("a run whose program is gone shows as stopped", () => {
    const line = { outcome: "stopped", run: { status: "running" } } as RunLine;
    expect(statusOf(line)).toBe("stopped");
    expect(statusOf({ ...line, outcome: "waiting", run: { ...line.run, status: "asking" } })).toBe("asking");
  });

  test("bars share the width, and the largest has the height", () => {
    const bars = barsOf([
      { from: 0, begun: 4, failed: 1 },
      { from: 1, begun: 0, failed: 0 },
    ]);
    expect(bars.map(({ x, width, height, failed }) => [x, width, height, failed])).toEqual([
      [0, 50, 30, 7.5],
      [50, 50, 0, 0],
    ]);
    expect(barsOf([])).toEqual([]);
  });
});
