import { describe, expect, it } from "vitest";
import type { Json } from "../../document/types";
import { policyCount, fallbackKind, fallbackOf, fieldsOf, withField } from "./policy";

describe("how a node is run", () => {
  it("shows short forms as long ones", () => {
    expect(fieldsOf(3, "attempts")).toEqual({ attempts: 3 });
    expect(fieldsOf(true, "ttl")).toEqual({});
    expect(fieldsOf({ run: 2, idle: 1 }, "run")).toEqual({ run: 2, idle: 1 });
    expect(fieldsOf(undefined, "run")).toBeNull();
    expect(fieldsOf(false, "ttl")).toBeNull();
  });

  it("leaves several policies to JSON", () => {
    expect(fieldsOf([{ attempts: 2 }], "attempts")).toBeUndefined();
  });

  it("writes nothing for what is not given", () => {
    expect(withField({ attempts: 3, jitter: true }, "jitter", undefined)).toEqual({ attempts: 3 });
    expect(withField({}, "key", "")).toEqual({});
    expect(withField({}, "jitter", false)).toEqual({ jitter: false });
  });

  it("keeps the chosen node when the kind of fallback changes", () => {
    expect(fallbackOf("branch", { node: "plan" })).toEqual({ to: "plan" });
    expect(fallbackOf("node", { to: "plan", into: "why" })).toEqual({ node: "plan" });
    expect(fallbackOf("none", { to: "plan" })).toBeUndefined();
    const kinds: (Json | undefined)[] = [undefined, { value: {} }, { node: "a" }, { to: "a" }];
    expect(kinds.map(fallbackKind)).toEqual(["none", "value", "node", "branch"]);
  });

  it("counts what is set", () => {
    expect(policyCount({ kind: "code", retry: 3, defer: false, cache: true })).toBe(2);
  });
});
