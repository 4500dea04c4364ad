// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { doc } from "../document/store";
import { undo } from "../document/undo";
import { END } from "../document/types";
import { useSession } from "../state/session";
import { dropCopies, followShift, onAxis } from "./drag-keys";
import { scene } from "./scene";

describe("a drag with Shift", () => {
  it("stays on the axis that it has gone along farther", () => {
    const from = { x: 10, y: 20 };
    expect(onAxis(from, { x: 60, y: 40 }, true)).toEqual({ x: 60, y: 20 });
    expect(onAxis(from, { x: 30, y: -40 }, true)).toEqual({ x: 10, y: -40 });
    expect(onAxis(from, { x: 60, y: 40 }, false)).toEqual({ x: 60, y: 40 });
  });

  it("follows the key while it is held", () => {
    const stop = followShift();
    const press = (type: string, shiftKey: boolean) =>
      window.dispatchEvent(new KeyboardEvent(type, { key: "Shift", shiftKey }));
    press("keydown", true);
    expect(onAxis({ x: 0, y: 0 }, { x: 9, y: 4 })).toEqual({ x: 9, y: 0 });
    press("keyup", false);
    expect(onAxis({ x: 0, y: 0 }, { x: 9, y: 4 })).toEqual({ x: 9, y: 4 });
    stop();
  });
});

describe("a drag with Alt", () => {
  beforeEach(() => {
    doc.reset([
      { id: "doc", value: {} },
      { id: "node:a", value: { kind: "assign", config: { set: { x: "1" } } } },
      { id: "node:b", value: { kind: "assign", config: {} } },
      { id: "edge:a->b", value: { from: "a", to: "b" } },
      { id: "layout:a", value: [0, 0] },
      { id: "layout:b", value: [300, 40] },
      { id: "layout:__end__", value: [700, 0] },
    ]);
  });

  it("leaves the nodes and puts copies with the edges between them, in one step of undo", async () => {
    dropCopies(
      new Map([
        ["a", { x: 0, y: 200 }],
        ["b", { x: 300, y: 240 }],
        [END, { x: 700, y: 200 }],
      ]),
    );
    expect(scene.position("a")).toEqual({ x: 0, y: 0 });
    expect(scene.position("a_2")).toEqual({ x: 0, y: 200 });
    expect(scene.position("b_2")).toEqual({ x: 300, y: 240 });
    expect(doc.get("node:a_2")).toEqual(doc.get("node:a"));
    expect(doc.names("edge").map((edge) => doc.get(`edge:${edge}`))).toContainEqual({
      from: "a_2",
      to: "b_2",
    });
    expect(scene.position(END), "the end has no copy and stays").toEqual({ x: 700, y: 0 });
    expect(useSession.getState().selection.nodes).toEqual(["a_2", "b_2"]);
    await undo();
    expect(doc.names("node")).toEqual(["a", "b"]);
  });

  it("does nothing with the ends alone", () => {
    dropCopies(new Map([[END, { x: 0, y: 0 }]]));
    expect(doc.names("node")).toEqual(["a", "b"]);
  });
});
