/** A comparison as text, for a report: both sides, their ways since they parted, and what differs. Pure. */
import { readablePath } from "../../debugger/parts/diff";
import { nodeName } from "../../debugger/parts/format";
import { changeItem, code, list, momentLine, part, report } from "../../debugger/parts/report";
import type { Comparison } from "../../ipc/bindings/Comparison";
import type { Difference } from "../../ipc/bindings/Difference";
import type { PathStep } from "../../ipc/bindings/PathStep";
import { listed } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { describeStep } from "./describe";

interface Sides {
  /** The threads. */
  readonly left: string;
  readonly right: string;
}

/** `differences`: those that are shown, which are fewer where some are ignored. */
export function comparisonText(
  answer: Comparison,
  { left, right }: Sides,
  differences: readonly Difference[],
): string {
  const { paths } = answer;
  const first = paths.stretches.findIndex((stretch) => !stretch.same);
  const names = (nodes: readonly string[]) => listed(nodes.map(nodeName));
  const ignored = answer.differences.length - differences.length;
  return report(
    t("debug.compare"),
    list([
      `${t("report.left")}: ${momentLine(left, answer.left.id, answer.left.step)}`,
      `${t("report.right")}: ${momentLine(right, answer.right.id, answer.right.step)}`,
    ]),
    part(
      t(first < 0 ? "debug.compare.samePath" : "debug.compare.path"),
      list([
        ...paths.stretches.flatMap((stretch, index) =>
          stretch.same
            ? [tn("debug.compare.sameStepsOne", "debug.compare.sameSteps", stretch.left.length)]
            : [
                ...(index === first ? [t("debug.compare.diverges")] : []),
                `${t("report.left")}: ${steps(stretch.left)}`,
                `${t("report.right")}: ${steps(stretch.right)}`,
              ],
        ),
        ...(paths.onlyLeft.length > 0 ? [t("debug.compare.onlyLeft", { nodes: names(paths.onlyLeft) })] : []),
        ...(paths.onlyRight.length > 0
          ? [t("debug.compare.onlyRight", { nodes: names(paths.onlyRight) })]
          : []),
        ...(paths.cut ? [t("debug.compare.cutPath")] : []),
      ]),
    ),
    part(
      tn("debug.compare.differenceOne", "debug.compare.differences", differences.length),
      [
        ...differences.map(differenceText),
        ...(ignored > 0 ? [`- ${tn("debug.compare.ignoredOne", "debug.compare.ignored", ignored)}`] : []),
        ...(answer.truncated ? [`- ${t("debug.compare.truncated")}`] : []),
      ].join("\n"),
    ),
    answer.equalKeys.length === 0
      ? ""
      : `${tn("debug.compare.equalKeysOne", "debug.compare.equalKeys", answer.equalKeys.length)}: ${listed(answer.equalKeys)}`,
  );
}

function differenceText({ pointer, leftPointer, change, left, right }: Difference): string {
  const about = code(readablePath(pointer));
  if (change === "moved")
    return `- ${about}: ${t("debug.change.movedFrom", { place: readablePath(leftPointer ?? "") })}`;
  return changeItem(change === "changed" ? about : `${about} (${t(`debug.change.${change}`)})`, left, right);
}

const steps = (all: readonly PathStep[]): string =>
  all.length === 0
    ? t("debug.compare.noSteps")
    : all.map((step) => `${step.step} ${describeStep(step)}`).join(", ");
