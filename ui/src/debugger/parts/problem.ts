/** A problem as the debugger shows it. */
import type { ProblemTexts } from "../../ipc/bindings/ProblemTexts";
import { problemText } from "../../lib/texts";

/** What went wrong with a request, for the place that shows its result. */
export interface ShownProblem {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  readonly texts?: ProblemTexts;
}

/** Whatever was thrown or told, in the shape that is shown and in the language of the interface. */
export function asProblem(thrown: unknown): ShownProblem {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
    const { code, message, remedy, texts } = thrown as { [K in keyof ShownProblem]: unknown };
    return problemText({
      code: typeof code === "string" ? code : "unexpected",
      message: String(message),
      ...(typeof remedy === "string" && { remedy }),
      ...(typeof texts === "object" && texts !== null && { texts }),
    });
  }
  return { code: "unexpected", message: String(thrown) };
}
