import { describe, expect, it } from "vitest";
import type { Want } from "../../ipc/bindings/Want";
import { grouped, isGrave, keyOf } from "./groups";

const want = (what: Want["access"]["what"], name: string, inside = false): Want => ({
  access: { what, name },
  inside,
  granted: false,
  nodes: ["n"],
});

describe("what a graph wants", () => {
  it("is grouped, with what can do the most first", () => {
    const groups = grouped([
      want("host", "b.org"),
      want("variable", "KEY"),
      want("program", "python3"),
      want("host", "a.org"),
    ]);
    expect(groups.map((group) => [group.what, group.items.map((item) => item.access.name)])).toEqual([
      ["program", ["python3"]],
      ["host", ["b.org", "a.org"]],
      ["variable", ["KEY"]],
    ]);
    expect(keyOf({ what: "host", name: "a:1" })).toBe("host:a:1");
  });

  it("is not ticked beforehand where it reaches into the own machine or network", () => {
    expect(isGrave(want("host", "api.example.org"))).toBe(false);
    expect(isGrave(want("connection", "mine"))).toBe(false);
    expect(isGrave(want("host", "127.0.0.1:1", true))).toBe(true);
    expect(isGrave(want("host", "*"))).toBe(true);
    expect(isGrave(want("key", "MY_KEY@api.example.org"))).toBe(false);
    expect(isGrave(want("key", "MY_KEY@*"))).toBe(true);
    expect(isGrave(want("program", "python3"))).toBe(true);
    expect(isGrave(want("mcp", "files"))).toBe(true);
  });
});
