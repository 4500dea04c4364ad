import { describe, expect, it } from "vitest";
import {
  inputFor,
  inputSchema,
  isConversation,
  isEmptyInput,
  mainKeys,
  nextTurn,
  samplesOf,
} from "./run-input";

describe("the input form's schema", () => {
  const keys = [
    ["request", { type: "string", title: "Request" }],
    ["messages", { type: "array", reducer: "add_messages" }],
    ["attempts", { type: "integer", reducer: "add", default: 0 }],
  ] as const;

  it("has the keys that an input may set, without what belongs to the channel", () => {
    const schema = inputSchema(keys, ["request", "attempts"]);
    expect(schema.properties).toEqual({
      request: { type: "string", title: "Request" },
      attempts: { type: "integer" },
    });
    expect("required" in schema).toBe(false);
  });

  it("has all keys when the document does not say, and asks for messages as people write them", () => {
    const properties = inputSchema(keys, undefined).properties as Record<string, Record<string, unknown>>;
    expect(Object.keys(properties)).toEqual(["request", "messages", "attempts"]);
    expect(properties.messages?.["x-editor"]).toBe("messages");
    expect(isConversation(keys)).toBe(true);
    expect(isConversation([["a", {}]])).toBe(false);
  });
});

describe("which keys come first", () => {
  const none: ReadonlySet<string> = new Set();
  const names = ["a", "b", "c"];
  it("follows the document, then its samples and what is filled in", () => {
    expect(mainKeys(names, ["c"], [], {}, none)).toEqual(["c"]);
    expect(mainKeys(names, undefined, [{ name: "s", input: { b: 1 } }], {}, none)).toEqual(["b"]);
    expect(mainKeys(names, undefined, [{ name: "s", input: { b: 1 } }], { c: 0 }, none)).toEqual(["b", "c"]);
    expect(mainKeys(names, undefined, [{ name: "s", input: { other: 1 } }], {}, none)).toEqual(names);
    expect(mainKeys(names, undefined, [], {}, none)).toEqual(names);
    // What nodes write before it is read is not asked for, unless it was typed.
    const filled = new Set(["b", "c"]);
    expect(mainKeys(names, undefined, [], {}, filled)).toEqual(["a"]);
    expect(mainKeys(names, undefined, [], { c: 0 }, filled)).toEqual(["a", "c"]);
    expect(mainKeys(names, undefined, [{ name: "s", input: { b: 1 } }], {}, filled)).toEqual(["b"]);
  });
});

describe("the next turn of a conversation", () => {
  it("keeps what is set and asks for the next message", () => {
    const keys = [
      ["messages", { reducer: "add_messages" }],
      ["user", {}],
      ["count", { reducer: "add" }],
    ] as const;
    expect(nextTurn(keys, { messages: [{ type: "human", content: "Hi" }], user: "A", count: 2 })).toEqual({
      messages: [{ type: "human", content: "" }],
      user: "A",
    });
  });
});

describe("sample inputs", () => {
  it("takes what is usable and names the nameless", () => {
    expect(
      samplesOf({
        examples: [{ name: "A lamp", input: { a: 1 } }, { input: { b: 2 } }, { name: "broken" }, 5],
      }),
    ).toEqual([
      { name: "A lamp", input: { a: 1 } },
      { name: "2", input: { b: 2 } },
    ]);
    expect(samplesOf(undefined)).toEqual([]);
    expect(samplesOf({ examples: "no" })).toEqual([]);
  });

  it("fills the form with what is typed before a sample", () => {
    const samples = [{ name: "s", input: { a: 1 } }];
    expect(inputFor({}, "g", samples)).toEqual({ a: 1 });
    expect(inputFor({ g: { a: 2 } }, "g", samples)).toEqual({ a: 2 });
    expect(inputFor({}, "g", [])).toEqual({});
  });

  it("knows an input that says nothing", () => {
    expect(isEmptyInput({})).toBe(true);
    expect(isEmptyInput({ a: undefined })).toBe(true);
    expect(isEmptyInput({ a: "" })).toBe(false);
    expect(isEmptyInput([])).toBe(true);
    expect(isEmptyInput({ messages: [{ type: "human", content: "" }] })).toBe(true);
    expect(isEmptyInput({ messages: [{ type: "human", content: "Hi" }] })).toBe(false);
  });
});
