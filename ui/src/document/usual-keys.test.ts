import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import type { JsonObject } from "./types";
import { usualKeys } from "./usual-keys";

const CONVERSATION = { type: "array", reducer: "add_messages" };
const AGENT = {
  type: "object",
  required: ["model", "messages"],
  properties: {
    model: { type: "string" },
    messages: { type: "string", "x-editor": "state-key", "x-key": CONVERSATION },
    into: { type: "string", "x-editor": "state-key", "x-key": {} },
  },
};

function withKeys(keys: Record<string, JsonObject>): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    ...Object.entries(keys).map(([name, value]) => ({ id: `key:${name}`, value })),
  ]);
  return doc;
}

const of = (keys: Record<string, JsonObject>, config: JsonObject = { model: "scripted", messages: "" }) => {
  const usual = usualKeys(withKeys(keys), AGENT, config);
  return { messages: usual.config["messages"], made: [...usual.keys] };
};

describe("the conversation of a new node", () => {
  it("is made where there is none, and other fields stay as they are", () => {
    expect(of({})).toEqual({ messages: "messages", made: [["messages", CONVERSATION]] });
    expect(usualKeys(withKeys({}), AGENT, { messages: "" }).config).toEqual({ messages: "messages" });
  });

  it("is the one that is there, whatever it is called", () => {
    expect(of({ chat: CONVERSATION })).toEqual({ messages: "chat", made: [] });
    expect(of({ chat: CONVERSATION, messages: CONVERSATION })).toEqual({ messages: "messages", made: [] });
  });

  it("is left to the person where several fit, or where the name means something else", () => {
    expect(of({ chat: CONVERSATION, aside: CONVERSATION })).toEqual({ messages: "", made: [] });
    expect(of({ messages: { type: "string" } })).toEqual({ messages: "", made: [] });
  });

  it("is not touched where the settings name it already", () => {
    expect(of({}, { messages: "talk" })).toEqual({ messages: "talk", made: [] });
  });
});
