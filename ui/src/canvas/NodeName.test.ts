import { expect, it } from "vitest";
import { cardWords } from "./NodeName";

it("a card is called by its title where its name is only that of the kind", () => {
  const of = (name: string, title?: string) =>
    Object.values(cardWords(name, { kind: "code", title }, "Code"));
  expect(of("code", "Check claim")).toEqual(["Check claim", "code"]);
  expect(of("code_12", "Check claim")).toEqual(["Check claim", "code_12"]);
  expect(of("check", "Check claim")).toEqual(["check", "Check claim"]);
  expect(of("code_review", "Check claim")).toEqual(["code_review", "Check claim"]);
  expect(of("code")).toEqual(["code", "Code"]);
  expect(of("code", "")).toEqual(["code", "Code"]);
});
