import { expect, it } from "vitest";
import { GraphDocument } from "./document";
import { Draft } from "./draft";
import { joined, op, same, type Patch } from "./patch";
import type { Json } from "./types";

it("makes the patch that its changes make when they are joined one by one", () => {
  let seed = 11;
  const random = (most: number) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 200; round += 1) {
    const doc = new GraphDocument();
    doc.reset(["a", "b", "c"].map((name) => ({ id: `node:${name}`, value: { kind: name } })));
    const draft = new Draft(doc);
    const values = new Map<string, Json | undefined>();
    let patch: Patch = { ops: [] };
    for (let step = 0; step < 12; step += 1) {
      const id = `node:${"abcd"[random(4)]}`;
      const value = [undefined, { kind: "a" }, { kind: "b" }, { kind: "c" }, { kind: "x" }][random(5)];
      const from = values.has(id) ? values.get(id) : doc.get(id);
      if (!same(from ?? null, value ?? null)) patch = joined(patch, { ops: [op(id, from, value)] });
      values.set(id, value);
      draft.set(id, value);
    }
    expect(draft.patch()).toEqual(patch);
  }
});
