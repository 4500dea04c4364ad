import { describe, expect, it } from "vitest";
import { leadsTo } from "./leads-to";

const edges = (...values: object[]) => values.map((value) => ({ value }));

describe("where an answer leads", () => {
  it("follows a route over the answer, and its default", () => {
    const route = edges({
      from: "review",
      route: "state.decision",
      paths: { approve: "pay", revise: "draft" },
      default: "__end__",
    });
    expect(leadsTo(route, "review", "decision", "approve")).toEqual(["pay"]);
    expect(leadsTo(route, "review", "decision", "reject")).toEqual(["__end__"]);
    expect(leadsTo(route, "other", "decision", "approve")).toBeUndefined();
  });
  it("follows a field of an object answer", () => {
    const route = edges({ from: "review", route: "state.answer.verdict", paths: { ok: "pay" } });
    expect(leadsTo(route, "review", "answer", { verdict: "ok" })).toEqual(["pay"]);
    expect(leadsTo(route, "review", "answer", { verdict: "no" })).toBeUndefined();
  });
  it("tests conditions that only look at the answer", () => {
    const when = edges(
      { from: "review", to: "pay", when: "state.decision == 'approve'" },
      { from: "review", to: "tell", when: 'state.decision != "approve"' },
      { from: "review", to: "log" },
    );
    expect(leadsTo(when, "review", "decision", "approve")).toEqual(["pay", "log"]);
    expect(leadsTo(when, "review", "decision", "reject")).toEqual(["tell", "log"]);
    expect(
      leadsTo(
        edges({ from: "r", to: "x", when: "state.ok" }, { from: "r", to: "y", when: "not state.ok" }),
        "r",
        "ok",
        false,
      ),
    ).toEqual(["y"]);
  });
  it("does not guess", () => {
    expect(
      leadsTo(edges({ from: "r", route: "state.decision | lower", paths: { a: "x" } }), "r", "decision", "A"),
    ).toBeUndefined();
    expect(
      leadsTo(edges({ from: "r", to: "x", when: "state.total > 3" }), "r", "decision", "A"),
    ).toBeUndefined();
    expect(
      leadsTo(edges({ from: "r", each: "state.items", as: "i", to: "x" }), "r", "decision", "A"),
    ).toBeUndefined();
  });
});
