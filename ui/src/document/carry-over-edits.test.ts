import { describe, expect, it } from "vitest";
import { carryOver } from "./carry-over-edits";
import { GraphDocument } from "./document";
import type { Json } from "./types";

const records = (nodes: Record<string, Json>, name = "Graph") => [
  { id: "doc", value: { name } },
  ...Object.entries(nodes).map(([node, value]) => ({ id: `node:${node}`, value })),
];
const after = (host: ReturnType<typeof records>, patch: Parameters<GraphDocument["apply"]>[0]) => {
  const document = new GraphDocument();
  document.reset(host);
  document.apply(patch);
  return document.records();
};

describe("carryOver", () => {
  it("has nothing to do when the host kept everything", () => {
    const both = records({ a: { n: 1 } });
    expect(carryOver(both, both, new Set(["node:a"]))).toEqual({ patch: { ops: [] }, foreign: [] });
  });

  it("brings back edits that the host lost: changed, added and removed records", () => {
    const host = records({ a: { n: 1 }, b: { n: 1 }, c: { n: 1 } });
    const mine = records({ a: { n: 2 }, new: { n: 1 }, c: { n: 1 } });
    const { patch, foreign } = carryOver(host, mine, new Set(["node:a", "node:b", "node:new"]));
    expect(foreign).toEqual([]);
    expect(after(host, patch)).toEqual(mine);
  });

  it("keeps what was changed in the file meanwhile, where nothing was edited here", () => {
    const host = records({ a: { n: 1 }, b: { n: 9 }, theirs: { n: 1 } });
    const mine = records({ a: { n: 2 }, b: { n: 1 }, gone: { n: 1 } });
    const { patch, foreign } = carryOver(host, mine, new Set(["node:a"]));
    expect(foreign.toSorted()).toEqual(["node:b", "node:gone", "node:theirs"]);
    expect(after(host, patch)).toEqual(records({ a: { n: 2 }, b: { n: 9 }, theirs: { n: 1 } }));
  });
});
