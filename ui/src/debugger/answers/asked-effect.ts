/**
 * A question of the run itself: a node with an effect did its work before, and a person says what happens. It is a
 * question like any other; only its heading, when it was and the earlier result are taken from its value.
 */
import type { Asked } from "../../ipc/bindings/Asked";
import type { Choice } from "../../ipc/bindings/Choice";
import { beginning } from "../../lib/beginning";
import { t, type TextKey } from "../../lib/texts";
import { isObject } from "../parts/diff";

/** Characters of a question in a row of a list. */
const LONGEST_HEADLINE = 200;

export interface AskedEffect {
  readonly heading: string;
  /** When it worked: ISO-8601. */
  readonly at?: string;
  /** What it gave then; undefined when nothing was recorded. */
  readonly result?: unknown;
}

const HEADINGS: Readonly<Record<string, TextKey>> = {
  done: "debug.effect.done",
  failed: "debug.effect.failed",
  begun: "debug.effect.begun",
  "other-input": "debug.effect.otherInput",
};

export function effectOf(asked: Pick<Asked, "value">): AskedEffect | null {
  const value: unknown = asked.value;
  if (!isObject(value) || value["kind"] !== "effect" || typeof value["node"] !== "string") return null;
  const { node, state, at, result } = value;
  const [firstLine] = questionIn(value).split("\n", 1);
  return {
    heading: firstLine || t(HEADINGS[String(state)] ?? "debug.effect.done", { node }),
    ...(typeof at === "string" && { at }),
    ...(result !== undefined && result !== null && { result }),
  };
}

const questionIn = (value: Record<string, unknown>): string =>
  typeof value["question"] === "string" ? value["question"] : "";

/** The first line of a question, for lists and titles. */
export const headline = (asked: Pick<Asked, "value" | "text">): string =>
  beginning(
    effectOf(asked)?.heading ?? asked.text.slice(0, 2 * LONGEST_HEADLINE).split("\n", 1)[0] ?? "",
    LONGEST_HEADLINE,
  );

/** The question with its choices, also where its value gives them only, and without its value as text. */
export function withEffect(asked: Asked): Asked {
  const value: unknown = asked.value;
  if (effectOf(asked) === null || !isObject(value)) return asked;
  // Its first line is the heading.
  const text = questionIn(value).split("\n").slice(1).join("\n").trim();
  const choices = asked.choices.length > 0 ? asked.choices : choicesIn(value["choices"]);
  return { ...asked, text, choices };
}

const LABELS: Readonly<Record<string, TextKey>> = {
  reuse: "debug.effects.reuse",
  again: "debug.effects.again",
  stop: "debug.effects.stop",
};

function choicesIn(given: unknown): Choice[] {
  if (!Array.isArray(given)) return [];
  return given.map((each: unknown): Choice => {
    const value: unknown = isObject(each) && "value" in each ? each["value"] : each;
    const label = isObject(each) ? each["label"] : undefined;
    const known = LABELS[String(value)];
    return {
      label:
        typeof label === "string"
          ? label
          : known
            ? t(known)
            : typeof value === "string"
              ? value
              : JSON.stringify(value),
      value,
      ...(isObject(each) && typeof each["description"] === "string" && { description: each["description"] }),
    };
  });
}
