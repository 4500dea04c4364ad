/** A problem as the debugger shows it. */
import type { ProblemTexts } from "../../ipc/bindings/ProblemTexts";

/** What went wrong with a request, for the place that shows its result. */
export interface ShownProblem {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  readonly texts?: ProblemTexts;
}

/** Whatever was thrown, in the shape that is shown. */
export function asProblem(thrown: unknown): ShownProblem {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
    const { code, message, remedy } = thrown as { code?: unknown; message: unknown; remedy?: unknown };
    return {
      code: typeof code === "string" ? code : "unexpected",
      message: String(message),
      ...(typeof remedy === "string" && { remedy }),
    };
  }
  return { code: "unexpected", message: String(thrown) };
}
