/** What a command answers when it cannot do what was asked. */
import type { Problem } from "./bindings/Problem";
import type { TrustNeeded } from "./bindings/TrustNeeded";

export class RpcProblem extends Error {
  readonly code: string;
  readonly remedy: string | undefined;
  /** What is to be allowed first. */
  readonly trust: TrustNeeded | undefined;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = "RpcProblem";
    this.code = problem.code;
    this.remedy = problem.remedy;
    this.trust = problem.trust;
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
