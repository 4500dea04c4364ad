/** What is shown before a run goes on as text, for a report: side effects that would be repeated, changes of the graph. Pure. */
import { type Choices, effectKey, type EffectsAsked } from "../../debugger/run/effects";
import { isMapped, type Renamed } from "../../debugger/run/hot-edit";
import { list, part, report, table, valueText } from "../../debugger/parts/report";
import { plain } from "../../debugger/parts/format";
import type { EffectChoice } from "../../ipc/bindings/EffectChoice";
import type { EffectView } from "../../ipc/bindings/EffectView";
import type { GoOnReport } from "../../ipc/bindings/GoOnReport";
import type { KeyChange } from "../../ipc/bindings/KeyChange";
import { fullTime } from "../../lib/intl";
import { t, tn, type TextKey } from "../../lib/texts";

export const CHOICES: Record<EffectChoice, TextKey> = {
  reuse: "debug.effects.reuse",
  again: "debug.effects.again",
  stop: "debug.effects.stop",
  ask: "debug.effects.ask",
};

/** What the graph says of a node's side effect. */
export function declaredText({ effect }: EffectView): string {
  if (effect === "once") return t("debug.effects.once");
  return t(effect === "idempotent" ? "debug.effects.idempotent" : "debug.effects.unsaid");
}

/** Each node with what it did, and what was chosen for it so far. */
export function effectsText({ going, step, list: asked }: EffectsAsked, choices: Choices): string {
  return report(
    t(`debug.effects.title.${going}`, { step: step ?? t("debug.effects.unknownStep") }),
    table(
      [t("report.node"), t("report.effect"), t("report.done"), t("debug.effects.result"), t("report.choice")],
      asked.effects.map((effect) => [
        `${[...effect.path, effect.node].join(" › ")}${effect.times > 1 ? ` ×${effect.times}` : ""}`,
        declaredText(effect),
        t(`debug.effects.state.${effect.state}`, { time: fullTime(effect.lastAt) }),
        effect.result === undefined ? "" : plain(valueText(effect.result), 180),
        t(CHOICES[choices[effectKey(effect)] ?? "stop"]),
      ]),
    ),
    asked.questionsLeft > 0 ? tn("debug.effects.leftOne", "debug.effects.left", asked.questionsLeft) : "",
  );
}

export function keyChangeText({ change, before, after }: KeyChange): string {
  return change === "gone" ? t("hotEdit.key.gone") : t(`hotEdit.key.${change}`, { before, after });
}

export const questionText = (answered: number): string =>
  answered === 0
    ? t("hotEdit.question.asked")
    : tn("hotEdit.question.answeredOne", "hotEdit.question.answered", answered);

/** What becomes of a thread whose graph has changed, and which nodes were chosen in the place of those that are gone. */
export function hotEditText({ tasks, keys, questions, programs }: GoOnReport, renamed: Renamed): string {
  return report(
    t("hotEdit.title"),
    part(
      t("hotEdit.tasks"),
      list(
        tasks.map((task) => {
          const into = isMapped(task)
            ? ` ${t("hotEdit.task.into")}: ${renamed[task.node] ?? t("hotEdit.task.nothing")}`
            : "";
          return `${[...task.path, task.node].join(" › ")}: ${t(`hotEdit.task.${task.change}`)}${into}`;
        }),
      ),
    ),
    part(t("hotEdit.keys"), list(keys.map((key) => `${key.key}: ${keyChangeText(key)}`))),
    part(
      t("hotEdit.questions"),
      list(questions.map(({ node, answered }) => `${node}: ${questionText(answered)}`)),
    ),
    part(t("hotEdit.programs"), list(programs)),
  );
}
