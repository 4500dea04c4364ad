// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import type { Difference } from "../../ipc/bindings/Difference";
import { replaceHost } from "../../ipc/client";
import { useEdits } from "../../debugger/state/edits";
import { fakeHost } from "../../test/fakeHost";
import { forgetIgnored, ignoredOf, isIgnored, ruleOf, setIgnored } from "./ignored";
import { canTake, taken, takeLeft } from "./take";

beforeEach(() => {
  localStorage.clear();
  forgetIgnored();
  useEdits.getState().clear();
});

describe("places that a comparison leaves out", () => {
  it("stand for a key, a place and what is below it, in every item of a list", () => {
    expect(ruleOf("/messages/3/id")).toBe("/messages/*/id");
    expect(isIgnored("/messages/7/id", ["/messages/*/id"])).toBe(true);
    expect(isIgnored("/messages/7/content", ["/messages/*/id"])).toBe(false);
    expect(isIgnored("/at/day", ["/at"])).toBe(true);
    expect(isIgnored("/attempts", ["/at"])).toBe(false);
  });

  it("are kept for their graph", () => {
    setIgnored("/a.json", ["/at", "/at", "/rows/*/id"]);
    forgetIgnored();
    expect(ignoredOf("/a.json")).toEqual(["/at", "/rows/*/id"]);
    expect(ignoredOf("/b.json")).toEqual([]);
    setIgnored("/a.json", []);
    expect(localStorage.length).toBe(0);
  });
});

describe("a value of the left side", () => {
  it("replaces what is there, and is put where a list lacks it", () => {
    expect(taken({ a: 1, b: 2 }, "/a", 5, false)).toEqual({ a: 5, b: 2 });
    expect(taken(["x", "z"], "/1", "y", true)).toEqual(["x", "y", "z"]);
    expect(taken({ rows: [1] }, "/rows/4", 9, true)).toEqual({ rows: [1, 9] });
    expect(taken({ a: 1 }, "/b", 2, true)).toEqual({ a: 1, b: 2 });
    expect(taken(1, "", 2, false)).toBe(2);
  });

  it("becomes a pending edit of the right moment, and nothing is written", async () => {
    const values: Record<string, unknown> = { "l /order/total": 7, "r /order": { total: 9, n: 1 } };
    const host = fakeHost(new Map(), {
      "thread.value": ({ threadId, pointer }: { threadId: string; pointer: string }) => ({
        value: values[`${threadId} ${pointer}`],
      }),
    });
    replaceHost(host);
    const view = { kind: "number", bytes: 1, length: 1 };
    const difference: Difference = { pointer: "/order/total", change: "changed", left: view, right: view };
    const sides = {
      left: { threadId: "l", checkpointId: null },
      right: { threadId: "r", checkpointId: "c" },
    };
    await takeLeft(difference, sides);
    expect(useEdits.getState().pending).toMatchObject({
      threadId: "r",
      checkpointId: "c",
      keys: { order: { base: { total: 9, n: 1 }, value: { total: 7, n: 1 } } },
    });
    expect(host.calls.map(({ command }) => command)).toEqual(["thread.value", "thread.value"]);
    expect(canTake({ pointer: "/x", change: "added", right: view })).toBe(false);
  });
});
