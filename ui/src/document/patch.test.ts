/** The fixtures that the Rust side runs too (`tests/patches`), and what joining patches must keep. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { joined, op, PatchError, reversed, same, type PatchOp } from "./patch";
import type { Json } from "./types";

const FOLDER = new URL("../../../tests/patches/", import.meta.url);

interface Fixture {
  readonly name: string;
  readonly before: { id: string; value: Json }[];
  readonly ops: PatchOp[];
  readonly after: { id: string; value: Json }[];
  readonly reversed?: PatchOp[];
  readonly error?: string;
}

function documentOf(records: { id: string; value: Json }[]): GraphDocument {
  const doc = new GraphDocument();
  doc.reset(records);
  return doc;
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

describe("patch fixtures", () => {
  it("are where the Rust side has them", () => expect(files.length).toBeGreaterThan(10));

  for (const file of files) {
    const fixture = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Fixture;
    it(fixture.name, () => {
      const doc = documentOf(fixture.before);
      if (fixture.error !== undefined) {
        let thrown: unknown;
        try {
          doc.apply({ ops: fixture.ops });
        } catch (error) {
          thrown = error;
        }
        expect(thrown, "the patch is refused").toBeInstanceOf(PatchError);
        expect((thrown as PatchError).code).toBe(fixture.error);
        expect(doc.records()).toEqual(fixture.after);
        return;
      }
      const done = doc.apply({ ops: fixture.ops });
      expect(doc.records()).toEqual(fixture.after);
      const back = reversed(done);
      if (fixture.reversed) expect(back.ops).toEqual(fixture.reversed);
      doc.apply(back);
      expect(doc.records(), "the reversed patch brings everything back, order included").toEqual(
        fixture.before,
      );
    });
  }
});

describe("joined", () => {
  it("makes one op of many changes to a field", () => {
    const whole = [1, 2, 3].reduce(
      (patch, n) => joined(patch, { ops: [op("node:a", { v: n - 1 }, { v: n })] }),
      { ops: [] as PatchOp[] } as { ops: readonly PatchOp[] },
    );
    expect(whole.ops).toEqual([{ id: "node:a", from: { v: 0 }, to: { v: 3 } }]);
  });

  it("is nothing when a change is taken back", () => {
    const whole = joined({ ops: [op("node:a", "x", "y")] }, { ops: [op("node:a", "y", "x")] });
    expect(whole.ops).toEqual([]);
  });

  it("keeps removals and insertions apart, whose order decides places", () => {
    const before = ["a", "b", "c"].map((name) => ({ id: `node:${name}`, value: { kind: name } as Json }));
    const doc = documentOf([{ id: "doc", value: {} }, ...before]);
    const first = doc.apply({ ops: [op("node:a", { kind: "a" }, undefined)] });
    const second = doc.apply({
      ops: [op("node:d", undefined, { kind: "d" }, 0), op("node:d", { kind: "d" }, { kind: "e" })],
    });
    const whole = joined(first, second);
    const other = documentOf([{ id: "doc", value: {} }, ...before]);
    other.apply(whole);
    expect(other.records()).toEqual(doc.records());
    other.apply(reversed(whole));
    expect(other.names("node")).toEqual(["a", "b", "c"]);
  });
});

describe("same", () => {
  it("does not look at the order of members", () => {
    expect(same({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
    expect(same({ a: undefined }, { b: 1 })).toBe(false);
    expect(same([1], { 0: 1 })).toBe(false);
  });
});
