/** What a command answers when it cannot do what was asked. */
import type { Problem } from "./bindings/Problem";
import type { TrustNeeded } from "./bindings/TrustNeeded";
import { problemText } from "../lib/texts";

export class RpcProblem extends Error {
  readonly code: string;
  /** What is to be allowed first. */
  readonly trust: TrustNeeded | undefined;
  readonly #problem: Problem;

  constructor(problem: Problem) {
    super();
    this.name = "RpcProblem";
    this.code = problem.code;
    this.trust = problem.trust;
    this.#problem = problem;
  }

  /** In the language of the interface, whichever that is when it is read. */
  override get message(): string {
    return problemText(this.#problem).message;
  }

  get remedy(): string | undefined {
    return problemText(this.#problem).remedy;
  }

  /** Any thrown thing as a problem: hosts answer with one, everything else is ours. */
  static from(thrown: unknown): RpcProblem {
    if (thrown instanceof RpcProblem) return thrown;
    if (isProblem(thrown)) return new RpcProblem(thrown);
    return new RpcProblem({
      code: "interface",
      message: thrown instanceof Error ? thrown.message : String(thrown),
    });
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}
