import { describe, expect, it } from "vitest";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { kindOf } from "../parts/format";
import { fileOf, lastTurn, outputOf, resultKeys, shapeOf, stepsOfRun } from "./result";

const key = (name: string, value?: unknown, more: Partial<KeyView> = {}): KeyView => ({
  key: name,
  declared: "any",
  reducer: "overwrite",
  ...(value !== undefined && { value: { kind: kindOf(value), bytes: 1, length: 1, value } }),
  change: "same",
  writers: [],
  ...more,
});
const step = (id: string, parent: string | undefined, updated: string[], source = "loop") => ({
  id,
  ...(parent !== undefined && { parent }),
  source,
  updated,
  // A copy is one step further than what it is a copy of, beside it.
  step: (parent === undefined ? -2 : Number(parent)) + (source === "fork" ? 2 : 1),
  next: [] as string[],
});
const names = (keys: readonly KeyView[]) => keys.map((each) => each.key);

describe("the result of a run", () => {
  const list = [
    step("5", "4", []),
    step("4", "3", ["answer", "draft"]),
    step("3", "2", ["sections"]),
    step("2", "1", ["question"], "input"),
    step("1", "0", ["old"]),
    step("0", undefined, ["question"], "input"),
    // Another branch.
    step("6", "1", ["elsewhere"]),
  ];
  const keys = [
    key("question", "?"),
    key("sections", [1]),
    key("draft", null),
    key("answer", "Yes"),
    key("old", 1),
    key("hint"),
  ];

  it("begins after the last input and follows the branch", () => {
    expect(stepsOfRun(list, "5").map((each) => each.id)).toEqual(["5", "4", "3"]);
    expect(stepsOfRun(list, "6").map((each) => each.id)).toEqual(["6", "1"]);
    expect(stepsOfRun(list, undefined)).toEqual([]);
  });

  it("is what the last step that wrote anything wrote", () => {
    const found = resultKeys(keys, undefined, stepsOfRun(list, "5"));
    expect([names(found.main), names(found.also), names(found.unset)]).toEqual([
      ["answer"],
      ["sections"],
      ["draft", "hint"],
    ]);
  });

  it("is in a fork what the copied step wrote", () => {
    const fork = step("7", "3", [], "fork");
    const copied = keys.map((each) => (each.key === "answer" ? { ...each, change: "added" as const } : each));
    const found = resultKeys(copied, undefined, stepsOfRun([fork, ...list], "7"));
    expect([names(found.main), names(found.also)]).toEqual([["answer"], ["sections"]]);
  });

  it("is in what follows a fork also what the copied step wrote", () => {
    const later = [step("8", "7", ["draft"]), step("7", "3", [], "fork"), ...list];
    expect(stepsOfRun(later, "8").map((each) => each.id)).toEqual(["8", "4", "3"]);
    const set = keys.map((each) => (each.key === "draft" ? key("draft", "More") : each));
    const found = resultKeys(set, undefined, stepsOfRun(later, "8"));
    expect([names(found.main), names(found.also)]).toEqual([["draft"], ["sections", "answer"]]);
    // The copy of an input begins a run like the input.
    const again = [step("9", "8", ["hint"]), step("8", "1", [], "fork"), ...list];
    expect(stepsOfRun(again, "9").map((each) => each.id)).toEqual(["9"]);
    // A replay goes on from its parent: there is nothing that it copied.
    const replay = [step("8", "7", ["draft"]), { ...step("7", "3", [], "fork"), step: 4 }, ...list];
    expect(stepsOfRun(replay, "8").map((each) => each.id)).toEqual(["8", "7", "3"]);
  });

  it("is what the graph declares, in its order", () => {
    const found = resultKeys(keys, ["old", "answer", "hint"], stepsOfRun(list, "5"));
    expect([names(found.main), names(found.also)]).toEqual([["old", "answer"], ["sections"]]);
    expect([outputOf({ output: ["a"] }), outputOf({ output: [] }), outputOf({}), outputOf(1)]).toEqual([
      ["a"],
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is what the last step changed while the checkpoints are not here", () => {
    const changed = [key("a", 1), key("b", 2, { change: "changed" })];
    expect(names(resultKeys(changed, undefined, []).main)).toEqual(["b"]);
  });
});

describe("the shape of a value", () => {
  it("is what a person reads", () => {
    const shape = (value: unknown, reducer?: string) => shapeOf(value, reducer).type;
    expect(shape("Hello")).toBe("text");
    expect(shape(3)).toBe("scalar");
    expect(shape(["a", 1])).toBe("list");
    expect(shape([{ a: 1 }, { b: [2] }])).toBe("table");
    expect(shape({ a: 1, b: null })).toBe("fields");
    expect(shape({ a: { b: 1 } })).toBe("json");
    expect(shape([])).toBe("json");
    expect(shape([], "add_messages")).toBe("messages");
    expect(shape([{ role: "user", content: "Hi" }])).toBe("messages");
    expect(shape([Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`c${at}`, at]))])).toBe("json");
    expect(shapeOf([{ a: 1 }, { b: 2, a: 3 }])).toMatchObject({ columns: ["a", "b"] });
  });

  it("finds pictures and files as providers write them", () => {
    const picture = "data:image/png;base64,AAAA";
    expect(shapeOf(picture)).toEqual({ type: "image", url: picture });
    expect(shapeOf({ type: "image_url", image_url: { url: picture } })).toEqual({
      type: "image",
      url: picture,
    });
    expect(shapeOf({ type: "image", source: { data: "AAAA", media_type: "image/jpeg" } })).toEqual({
      type: "image",
      url: "data:image/jpeg;base64,AAAA",
    });
    expect(fileOf({ type: "file", data: "AAAA", mime_type: "text/csv", filename: "a.csv" })).toEqual({
      name: "a.csv",
      mime: "text/csv",
      url: "data:text/csv;base64,AAAA",
      bytes: 3,
    });
    expect(shapeOf([picture, picture]).type).toBe("several");
    // Another server's picture is not fetched, and a sentence is none.
    expect(shapeOf({ type: "image_url", image_url: "https://example.org/a.png" }).type).toBe("fields");
    expect(shapeOf("data: none, sorry").type).toBe("text");
  });

  it("knows where the last turn begins", () => {
    const messageOf = (type: string) => ({ type, content: "" });
    expect(lastTurn([messageOf("human"), messageOf("ai"), messageOf("human"), messageOf("ai")])).toBe(2);
    expect(lastTurn([messageOf("ai")])).toBe(0);
    expect(lastTurn([])).toBe(0);
  });
});
