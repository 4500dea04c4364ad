import { describe, expect, it } from "vitest";
import { isObject } from "../parts/diff";
import { conversationOf, type Streamed } from "./conversation";

const human = (content: string) => ({ type: "human", content });
const ai = (content: string) => ({ type: "ai", content });
const asked = (taskId: string, at: number, ...messages: unknown[]) => ({ taskId, at, request: { messages } });
const text = (taskId: string, content: string): Streamed => ({
  taskId,
  node: `node of ${taskId}`,
  message: ai(content),
  live: false,
});
const words = (messages: ReturnType<typeof conversationOf>) =>
  messages.map(({ message, node }) => [isObject(message) ? message.content : message, node]);

describe("the conversation of exchanges", () => {
  it("shows what was asked before what was answered, in the order of the requests", () => {
    const messages = conversationOf(
      [
        asked("b", 20, human("Second?")),
        asked("a", 10, { role: "system", content: "Be brief." }, human("First?")),
      ],
      [text("b", "Two."), text("a", "One.")],
    );
    expect(words(messages)).toEqual([
      ["Be brief.", undefined],
      ["First?", undefined],
      ["One.", "node of a"],
      ["Second?", undefined],
      ["Two.", "node of b"],
    ]);
  });

  it("shows a message once although later requests repeat it", () => {
    const messages = conversationOf(
      [
        asked("a", 1, human("Weather?")),
        asked("a", 2, human("Weather?"), ai("I look."), { type: "tool", content: "7" }),
        asked(
          "c",
          3,
          human("Weather?"),
          ai("I look."),
          { type: "tool", content: "7" },
          ai("Cold."),
          human("And?"),
        ),
      ],
      [text("a", "I look."), text("a", "Cold."), text("c", "Colder.")],
    );
    expect(words(messages).map(([content]) => content)).toEqual([
      "Weather?",
      "I look.",
      "7",
      "Cold.",
      "And?",
      "Colder.",
    ]);
  });

  it("is the streamed texts when no request was recorded, and copes with strange requests", () => {
    expect(words(conversationOf([], [text("a", "Hello")]))).toEqual([["Hello", "node of a"]]);
    expect(
      conversationOf(
        [
          { taskId: "a", at: 1, request: null },
          { taskId: "b", at: 2, request: { messages: 3 } },
        ],
        [],
      ),
    ).toEqual([]);
  });
});
