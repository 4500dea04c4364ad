/** What each answer to a question would lead to as text, for a report. Pure. */
import type { Asked } from "../../ipc/bindings/Asked";
import { t } from "../../lib/texts";
import { code, report, table } from "../parts/report";
import { expectedText, textOf } from "./AnswerPath";
import type { OwnChoice } from "./choices";
import { answerKey, type Previews } from "./useAnswerPreviews";

export function previewsText(asked: Asked, choices: readonly OwnChoice[], previews: Previews): string {
  return report(
    t("report.choices"),
    asked.text
      .split("\n")
      .map((line) => `> ${line}`.trimEnd())
      .join("\n"),
    table(
      [t("report.choice"), t("report.answer"), t("report.path"), t("debug.preview.earlier")],
      choices
        .filter((choice) => !("form" in choice))
        .map((choice) => {
          const found = previews.get(answerKey(choice.value));
          return [
            choice.label,
            code(JSON.stringify(choice.value)),
            found === undefined ? "" : textOf(found),
            found === undefined ? "" : expectedText(found),
          ];
        }),
    ),
  );
}
