/** The problems at a pointer, as a field shows them. */
import type { FieldProblem } from "../../components/Field";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { quickFixOf } from "../../document/quick-fixes";

export function problemsOf(
  diagnostics: readonly Diagnostic[],
  matches: (pointer: string) => boolean,
  waits: (pointer: string) => boolean = () => false,
): FieldProblem[] {
  return diagnostics
    .filter((each) => matches(each.pointer ?? ""))
    .map((each) => ({
      message: each.message,
      remedy: each.remedy,
      severity: waits(each.pointer ?? "") ? ("hint" as const) : each.severity,
      action: quickFixOf(each.code, each),
    }));
}
