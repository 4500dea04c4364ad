import { afterEach, expect, it } from "vitest";
import { setWords } from "../lib/texts";
import { RpcProblem } from "./problem";

afterEach(() => setWords(null));

it("says a problem in the language that is spoken when it is read", () => {
  const problem = RpcProblem.from({
    code: "not-found",
    message: "There is no thread t1.",
    remedy: "Choose another one.",
    texts: { message: { pattern: "There is no thread {id}.", args: { id: "t1" } } },
  });
  const said = () => [problem.message, problem.remedy, String(problem)];
  const english = ["There is no thread t1.", "Choose another one.", "RpcProblem: There is no thread t1."];
  expect(said()).toEqual(english);
  const words: Record<string, string> = {
    "There is no thread {id}.": "没有线程 {id}。",
    "Choose another one.": "选择其他线程。",
  };
  setWords({ texts: {}, commandNames: {}, kindAliases: {}, backends: {}, rust: (text) => words[text] });
  expect(said()).toEqual(["没有线程 t1。", "选择其他线程。", "RpcProblem: 没有线程 t1。"]);
  setWords(null);
  expect(said()).toEqual(english);
});
