import { describe, expect, it } from "vitest";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import {
  changesOf,
  draftOf,
  forkValues,
  mapped,
  nodeFields,
  requestOf,
  withMessages,
  withPart,
} from "./playground";

const human = (content: string) => ({ type: "human", content });
const exchange: ExchangeView = {
  taskId: "t",
  model: "mock::big",
  address: "",
  at: 1,
  millis: 2,
  request: {
    messages: [{ type: "system", content: "Be brief." }, human("old"), human("On 8")],
    temperature: 0.2,
    tools: [{ name: "f" }],
  },
  response: "",
  ended: "done",
};
const templates = { system: "Be brief.", prompt: "On {{ state.n }}" };
const begun = mapped(draftOf(exchange), templates, { system: "Be brief.", prompt: "On 8" });

describe("a request in the playground", () => {
  it("begins as it was sent, with the node's prompt where it is recognized", () => {
    expect(requestOf(begun)).toEqual(exchange.request);
    expect(begun.places).toEqual({ system: 0, prompt: 2 });
    expect(changesOf(exchange, begun)).toBe("Same request");
    const other = mapped(draftOf(exchange), templates, { prompt: "On 9" });
    expect(other.places, "the prompt has changed since").toEqual({});
  });

  it("says what was changed, and takes only that over into the node", () => {
    const changed = {
      ...withPart(begun, "prompt", "About {{ state.n }}", "About 8"),
      model: "mock::small",
      settings: { max_tokens: 9 },
    };
    expect(changesOf(exchange, changed)).toBe("Changed: mock::small, temperature, max_tokens 9, messages");
    expect(requestOf(changed).messages).toEqual([
      { type: "system", content: "Be brief." },
      human("old"),
      human("About 8"),
    ]);
    const config = { model: "scripted", temperature: 0.2, ...templates, into: "messages" };
    expect(nodeFields(exchange, config, changed)).toEqual([
      { pointer: "/config/model", value: "mock::small" },
      { pointer: "/config/temperature", value: undefined },
      { pointer: "/config/max_tokens", value: 9 },
      { pointer: "/config/prompt", value: "About {{ state.n }}" },
    ]);
    expect(nodeFields(exchange, config, begun), "another model stood in: it is not the node's").toEqual([]);
  });

  it("loses the node's prompt when its message is edited as one, or taken out", () => {
    const [system, , prompt] = begun.messages;
    const moved = withMessages(begun, [system ?? null, prompt ?? null]);
    expect(moved.places).toEqual({ system: 0, prompt: 1 });
    const edited = withMessages(begun, [system ?? null, human("mine")]);
    expect(edited.places).toEqual({ system: 0 });
    expect(edited.templates).toEqual({ system: "Be brief." });
  });

  it("gives what the task would have written", () => {
    const value = { type: "ai", id: "ai-other", content: "eight" };
    const usage = { total_tokens: 3 };
    const of = { taskId: "t1" };
    expect(
      forkValues({ into: "messages", usage_into: "usage" }, { value, usage }, { ...of, asMessage: true }),
    ).toEqual({ messages: [{ ...value, id: "ai-t1" }], usage });
    expect(forkValues({ into: "answer" }, { value, usage }, { ...of, asMessage: false })).toEqual({
      answer: "eight",
    });
    expect(forkValues({ into: "plan" }, { value: { days: 3 } }, { ...of, asMessage: false })).toEqual({
      plan: { days: 3 },
    });
    expect(forkValues({ into: "answer" }, {}, { ...of, asMessage: false }), "it failed").toBeNull();
    expect(forkValues({}, { value }, { ...of, asMessage: false })).toBeNull();
  });
});
