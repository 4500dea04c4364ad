// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";
import { setWords, t } from "../lib/texts";
import { followLanguage, spokenOf, useSpoken } from "./language";
import { useSession } from "./session";

beforeEach(() => {
  setWords(null);
  useSpoken.setState({ spoken: "en" });
});

it("takes the first language of the system that it speaks", () => {
  expect(spokenOf("system", ["de-DE", "zh-Hans-CN", "en"])).toBe("zh");
  expect(spokenOf("system", ["en-GB", "zh-CN"])).toBe("en");
  expect(spokenOf("system", ["fr"])).toBe("en");
  expect(spokenOf("zh", ["en"])).toBe("zh");
});

it("speaks the language of the settings, and the next one when it is chosen", async () => {
  useSession.setState({ language: "zh" });
  await followLanguage();
  expect([document.documentElement.lang, t("language.label")]).toEqual(["zh-CN", "语言"]);
  useSession.setState({ language: "en" });
  await vi.waitFor(() => expect(useSpoken.getState().spoken).toBe("en"));
  expect([document.documentElement.lang, t("language.label")]).toEqual(["en", "Language"]);
  // The one that is chosen last counts, whichever is loaded first.
  useSession.setState({ language: "zh" });
  useSession.setState({ language: "en" });
  await new Promise((done) => setTimeout(done, 20));
  expect(t("language.label")).toBe("Language");
});

it("keeps the places of a text in the longer English of the tests", async () => {
  await followLanguage(new URLSearchParams("?lang=pseudo"));
  const text = t("debug.run.errors", { n: 3 });
  expect(text).toContain("3");
  expect(text.length).toBeGreaterThan(1.35 * "Cannot run: the graph has 3 errors.".length);
});
