/** Problems of the open document, as the workbench finds them. */
import type { Applied } from "../ipc/bindings/Applied";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import { useSpoken } from "../state/language";
import { problemText } from "../lib/texts";
import { same } from "./patch";
import { useDocumentState } from "./store";

export function takeChecked({ diagnostics, leads }: Pick<Applied, "diagnostics" | "leads">): void {
  // After most edits they are what they were.
  if (!same(given, diagnostics)) takeDiagnostics(diagnostics);
  if (!same(useDocumentState.getState().leads, leads)) useDocumentState.setState({ leads });
}

/** Problems as the workbench gave them, to be said in another language. */
let given: readonly Diagnostic[] = [];

function takeDiagnostics(inEnglish: readonly Diagnostic[]): void {
  given = inEnglish;
  const { byRecord: before, diagnostics: previous } = useDocumentState.getState();
  const diagnostics = inEnglish.map(problemText);
  if (same(previous, diagnostics)) return;
  const grouped = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const list = grouped.get(diagnostic.record);
    if (list) list.push(diagnostic);
    else grouped.set(diagnostic.record, [diagnostic]);
  }
  const byRecord = new Map<string, readonly Diagnostic[]>();
  for (const [record, list] of grouped) {
    const old = before.get(record);
    byRecord.set(record, old && same(old, list) ? old : list);
  }
  useDocumentState.setState({ diagnostics, byRecord });
}

/** No document is shown, and nothing is wrong with it. */
export function forgetDiagnostics(): void {
  given = [];
}

useSpoken.subscribe(() => takeDiagnostics(given));
