import { afterEach, expect, it } from "vitest";
import { setWords } from "../../lib/texts";
import { zh } from "../../lib/texts/zh";
import { asProblem } from "./problem";

afterEach(() => setWords(null));

const problem = {
  code: "not-found",
  message: "There is no thread lamp.",
  texts: { message: { pattern: "There is no thread {thread}.", args: { thread: "lamp" } } },
};

it("shows a problem that was told in the language of the interface", () => {
  expect(asProblem(problem).message).toBe(problem.message);
  setWords({ ...zh, rust: (text) => (text.includes("{thread}") ? "没有线程{thread}。" : undefined) });
  const shown = asProblem(problem);
  expect(shown).toMatchObject({ code: "not-found", message: "没有线程lamp。" });
  expect(asProblem(shown)).toEqual(shown);
});

it("takes anything that is thrown", () => {
  expect(asProblem(new Error("broken"))).toEqual({ code: "unexpected", message: "broken" });
  expect(asProblem("broken")).toEqual({ code: "unexpected", message: "broken" });
  expect(asProblem({ message: "a", texts: null, remedy: 3 })).toEqual({ code: "unexpected", message: "a" });
});
