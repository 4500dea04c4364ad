import { describe, expect, test } from "vitest";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { frames, sum } from "./exchange-text";
import { money } from "../../lib/intl";

const exchange = (given: Partial<ExchangeView>): ExchangeView => ({
  taskId: "a",
  model: "openai::m",
  address: "",
  at: 0,
  millis: 10,
  request: {},
  response: "",
  ended: "done",
  ...given,
});

describe("exchanges with models", () => {
  test("frames are written out, and what is no JSON stays", () => {
    expect(frames('{"a":1}\nmessage_stop: {"b":[2]}\n[DONE]\nthe server answered 500\n')).toBe(
      '{\n  "a": 1\n}\nmessage_stop: {\n  "b": [\n    2\n  ]\n}\n[DONE]\nthe server answered 500',
    );
  });

  test("a sum without a price of one part is none", () => {
    const priced = exchange({
      tokens: { input: 3, output: 4 },
      cost: { amount: 0.5, currency: "USD" },
    });
    expect(sum([priced, priced])).toEqual({
      millis: 20,
      input: 6,
      output: 8,
      cost: new Map([["USD", 1]]),
    });
    expect(sum([priced, exchange({})]).cost).toBeNull();
    expect(sum([priced, exchange({ ended: "failed" })]).cost).toEqual(new Map([["USD", 0.5]]));
    expect(sum([exchange({ ended: "left" })]).cost).toBeNull();
  });

  test("small amounts keep their digits", () => {
    expect([money(0, "USD"), money(12.345, "USD"), money(0.000_123_4, "USD")]).toEqual([
      "0.00\u202fUSD",
      "12.35\u202fUSD",
      "0.00012\u202fUSD",
    ]);
  });
});
