/** What a place of a test is called, and how values at it are shown. */
import type { TestDifference } from "../../ipc/bindings/TestDifference";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { t } from "../../lib/texts";

const unescaped = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

/** The place of a difference in words. */
export function placeOf({ at }: Pick<TestDifference, "at">): string {
  const [part, field, inside, ...rest] = at.split("/").slice(1).map(unescaped);
  const n = (text: string | undefined) => Number(text) + 1;
  if (part === "answers") return t("tests.at.answer", { n: n(field) });
  if (part === "edits") return t("tests.at.edit", { n: n(field) });
  if (part === "holds") return t("tests.at.holds", { n: n(field) });
  if (part !== "expect") return at;
  if (field === "nodes") return t("tests.at.node", { n: n(inside) });
  if (field === "questions") return t("tests.at.question", { n: n(inside) });
  if (field === "status") return t("tests.at.status");
  if (field === "steps") return t("tests.at.steps");
  if (field === "error") return t("tests.at.error");
  return t("tests.at.value", { key: [inside, ...rest].join(".") });
}

/** The state key that a difference is in, if it is in one. */
export function keyOf({ at }: Pick<TestDifference, "at">): string | null {
  const [part, field, key] = at.split("/").slice(1);
  return part === "expect" && field === "values" && key !== undefined ? unescaped(key) : null;
}

/** The part of `expect` that a difference is in, but for values; null where it is in none. */
export function fieldOf({ at }: Pick<TestDifference, "at">): string | null {
  const [part, field] = at.split("/").slice(1);
  return part === "expect" && field !== undefined && field !== "values" ? field : null;
}

/** A value as text: texts as they are, everything else as JSON. */
export function textOf(value: ValueView | undefined): string {
  if (value === undefined) return t("tests.nothing");
  if (value.value === undefined) return `${value.head ?? ""}…`;
  return typeof value.value === "string" ? value.value : JSON.stringify(value.value, null, 2);
}
