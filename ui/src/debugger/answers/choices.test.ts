import { describe, expect, it } from "vitest";
import { choiceOf, keyOf, verdictsOf } from "./choices";

const choices = (...values: unknown[]) =>
  values.map((value) => ({ label: typeof value === "string" ? value : JSON.stringify(value), value }));
const keys = (of: ReturnType<typeof choices>) => of.map((_, index) => keyOf(of, index));

describe("the key of a choice", () => {
  it("approves and rejects the same way for every question", () => {
    expect(keys(choices("approve", "reject"))).toEqual(["A", "R"]);
    expect(keys(choices(false, true)), "whichever stands first").toEqual(["R", "A"]);
    expect(keys(choices("Yes", "No", "Later"))).toEqual(["A", "R", "3"]);
    expect(keys(choices({ type: "accept" }, { type: "ignore" }))).toEqual(["A", "R"]);
    expect(keys(choices("批准", "拒绝"))).toEqual(["A", "R"]);
  });

  it("is a number where nothing says no", () => {
    expect(keys(choices("tea", "coffee"))).toEqual(["A", "2"]);
    expect(choiceOf(choices("tea", "coffee"), "r")).toBe(-1);
    expect(keys(choices("notify", "nobody")), "a word that only begins so").toEqual(["A", "2"]);
  });

  it("takes one choice, and no other key takes it", () => {
    const three = choices("approve", "half", "reject");
    expect(["a", "A", "1", "2", "3", "r", "9", "x"].map((key) => choiceOf(three, key))).toEqual([
      0, 0, -1, 1, -1, 2, -1, -1,
    ]);
  });

  it("fills no form by itself", () => {
    const edit = { label: "Edit…", value: null, form: {} };
    expect(verdictsOf([edit, ...choices("approve")])).toEqual({ approve: 1, reject: -1 });
    expect(choiceOf([...choices("approve", "reject"), edit], "3")).toBe(2);
  });
});
