/** Problems of the open document, as the workbench finds them. */
import type { Applied } from "../ipc/bindings/Applied";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import { useSpoken } from "../state/language";
import { problemText, t } from "../lib/texts";
import type { Schema } from "../components/schema-form/schema";
import { labelAt } from "../components/schema-form/labels";
import { useSession } from "../state/session";
import { same } from "./patch";
import { doc, useDocumentState } from "./store";
import { END, nodeOf, START } from "./types";

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
  const diagnostics = inEnglish.map((problem) => asShown(problemText(problem)));
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

/** With the names that the window has for places: the start and the end, and the labels of settings. */
function asShown(problem: Diagnostic): Diagnostic {
  const { pattern = "", args = {} } = problem.texts?.message ?? {};
  const setting = pattern.includes("setting `{name}`") ? `\`${String(args["name"])}\`` : args["setting"];
  const label = typeof setting === "string" ? labelOf(problem) : undefined;
  const named = (text: string) =>
    (label === undefined ? text : text.replace(String(setting), `“${label}”`))
      .replaceAll(`\`${START}\``, t("forms.start"))
      .replaceAll(`\`${END}\``, t("forms.end"));
  return { ...problem, message: named(problem.message), remedy: named(problem.remedy) };
}

/** What the form of a node calls the setting that a problem is at. */
function labelOf({ record, pointer }: Diagnostic): string | undefined {
  const [, place] = /^\/config(\/.+)$/.exec(pointer ?? "") ?? [];
  const { kind, config } = nodeOf(doc.get(record));
  const schema = useSession.getState().appInfo?.kinds.find((each) => each.kind === kind)?.configSchema as
    Schema | undefined;
  return place === undefined || schema === undefined ? undefined : labelAt(schema, place, config);
}

/** No document is shown, and nothing is wrong with it. */
export function forgetDiagnostics(): void {
  given = [];
}

useSpoken.subscribe(() => takeDiagnostics(given));
