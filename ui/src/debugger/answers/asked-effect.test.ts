import { describe, expect, it } from "vitest";
import type { Asked } from "../../ipc/bindings/Asked";
import { choicesOf } from "./choices";
import { effectOf, headline, withEffect } from "./asked-effect";

const asked = (value: unknown, more: Partial<Asked> = {}): Asked => ({
  text: JSON.stringify(value),
  choices: [],
  context: {},
  value,
  ...more,
});

describe("a question about an effect", () => {
  const value = {
    kind: "effect",
    node: "pay",
    effect: "once",
    state: "other-input",
    at: "2026-01-01T00:00:00Z",
    result: { booked: 7 },
    choices: [{ label: "Use its result", value: "use" }, "again"],
  };

  it("has a heading, the earlier result and its choices, also where its value says nothing else", () => {
    expect(effectOf(asked(value))).toEqual({
      heading: "`pay` already did its work, for other input",
      at: "2026-01-01T00:00:00Z",
      result: { booked: 7 },
    });
    const shown = withEffect(asked(value));
    expect(shown.text, "the value is not shown as text").toBe("");
    expect(choicesOf(shown).map(({ label, value: answer }) => [label, answer])).toEqual([
      ["Use its result", "use"],
      ["Do it again", "again"],
    ]);
  });

  it("is headed by its own first line", () => {
    const own = asked({ ...value, question: "Did `pay` do its work?\nIt began and failed." });
    expect(headline(own)).toBe("Did `pay` do its work?");
    expect(withEffect(own).text).toBe("It began and failed.");
  });

  it("is not any other question", () => {
    const other = asked({ question: "Pay?", kind: "ask" }, { text: "Pay?\nNow" });
    expect(effectOf(other)).toBeNull();
    expect(withEffect(other)).toBe(other);
    expect(headline(other)).toBe("Pay?");
  });
});
