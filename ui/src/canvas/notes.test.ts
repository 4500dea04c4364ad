import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { reversed } from "../document/patch";
import type { Json, JsonObject } from "../document/types";
import { LEAST_WIDTH, noteOf, noteSize, plainText, resizeNote, withHeld } from "./notes";
import { Scene } from "./window";

const note = (config: JsonObject): Json => ({ kind: "note", config });

function scene(): Scene {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:frame", value: note({ text: "", frame: true, width: 600, height: 300 }) },
    { id: "node:in", value: { kind: "assign", config: {} } },
    { id: "node:half", value: { kind: "assign", config: {} } },
    { id: "node:out", value: { kind: "assign", config: {} } },
    { id: "node:small", value: note({ text: "x", frame: true, width: 200, height: 100 }) },
    { id: "edge:loop", value: { from: "half", to: "in" } },
    { id: "layout:frame", value: [0, 0] },
    { id: "layout:in", value: [20, 60] },
    { id: "layout:half", value: [500, 60] },
    { id: "layout:out", value: [900, 60] },
    { id: "layout:small", value: [300, 180] },
  ]);
  return new Scene(doc);
}

describe("notes", () => {
  it("reads what a broken file holds as what it may be", () => {
    expect(noteOf({ kind: "assign", config: {} })).toBeNull();
    expect(noteOf(note({ text: 3, color: "mauve", frame: "yes", width: "wide", height: -4 }))).toEqual({
      text: "",
      colour: "yellow",
      frame: false,
      width: null,
      height: 44,
    });
    expect(noteOf(note({ text: "t", color: "blue", width: 1e9 }))).toMatchObject({
      colour: "blue",
      width: 20_000,
    });
  });

  it("are as large as the file says, and follow it", () => {
    const all = scene();
    expect(all.rect("frame")).toEqual({ x: 0, y: 0, width: 600, height: 300 });
    const undo = all.doc.apply(resizeNote(all.doc, "frame", { width: 3, height: 401 }));
    expect(all.rect("frame")).toEqual({ x: 0, y: 0, width: LEAST_WIDTH, height: 400 });
    all.doc.apply(reversed(undo));
    expect(all.rect("frame")?.width).toBe(600);
  });

  it("are as high as their text, up to a bound, where the file says no height", () => {
    const height = (text: string, more: JsonObject = {}) => {
      const read = noteOf(note({ text, ...more }));
      return read && noteSize(read, 64).height;
    };
    expect(height("")).toBe(64);
    expect(height("one")).toBeLessThan(height("one\n\n- two\n- three") ?? 0);
    expect(height("word ".repeat(30))).toBeGreaterThan(height("word ".repeat(30), { width: 600 }) ?? 0);
    expect(height("line\n".repeat(500))).toBeLessThanOrEqual(320);
    expect(height("line\n".repeat(9), { height: 100 })).toBe(100);
  });

  it("are plain words in pictures", () => {
    const text = "# Plan\n\n- **first** `state.reply`\n* [docs](https://example.com) of a_b";
    expect(plainText(text)).toBe("Plan\n\n• first state.reply\n• docs of a_b");
  });

  it("move what lies wholly in a frame, frames in it too", () => {
    const all = scene();
    expect([...withHeld(all, ["frame"])].toSorted()).toEqual(["frame", "in", "small"]);
    expect([...withHeld(all, ["in"])]).toEqual(["in"]);
  });

  it("are behind: a click or a line meets the nodes in a frame first", () => {
    const all = scene();
    expect(all.nodeAt({ x: 30, y: 70 })).toBe("in");
    expect(all.nodeAt({ x: 5, y: 290 })).toBe("frame");
    expect(all.cardsIn({ x: 0, y: 0, width: 700, height: 300 }).toSorted()).toEqual(["half", "in"]);
    // The line back runs between the nodes and not round the frame.
    const lane = all.linesOf("loop")[0]?.lane ?? Infinity;
    expect(lane).toBeLessThan(300);
  });
});
