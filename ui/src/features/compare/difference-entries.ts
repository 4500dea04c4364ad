/** What can be done with one difference: taking its left value, copying, leaving its place or its key out. */
import type { MenuEntry } from "../../components/Menu";
import { offOnlyRead } from "../../debugger/model/only-read";
import { copyText } from "../../debugger/parts/CopyButton";
import { pointerParts, readablePath } from "../../debugger/parts/diff";
import type { Difference } from "../../ipc/bindings/Difference";
import { t } from "../../lib/texts";
import type { ComparedMoment } from "../../state/session";
import { ruleOf } from "./ignored";
import { canTake, copyValue, takeLeft } from "./take";

export function differenceEntries(
  difference: Difference,
  sides: { readonly left: ComparedMoment; readonly right: ComparedMoment },
  onIgnore: (rule: string) => void,
): MenuEntry[] {
  const { pointer, leftPointer, left, right } = difference;
  const rule = ruleOf(pointer);
  const [key = ""] = pointerParts(pointer);
  const keyRule = pointer.split("/").slice(0, 2).join("/");
  return [
    {
      id: "take",
      label: t("debug.compare.take"),
      disabled: !canTake(difference),
      off: offOnlyRead(),
      run: () => void takeLeft(difference, sides),
    },
    { id: "s1", separator: true },
    {
      id: "copyLeft",
      label: t("debug.compare.copyLeft"),
      disabled: left === undefined,
      run: () => void copyValue(left, sides.left, leftPointer ?? pointer),
    },
    {
      id: "copyRight",
      label: t("debug.compare.copyRight"),
      disabled: right === undefined,
      run: () => void copyValue(right, sides.right, pointer),
    },
    { id: "copyPath", label: t("debug.copyPath"), run: () => void copyText(readablePath(pointer)) },
    { id: "s2", separator: true },
    ...(rule === keyRule
      ? []
      : [
          {
            id: "ignore",
            label: t("debug.compare.ignore", { path: readablePath(rule) }),
            run: () => onIgnore(rule),
          },
        ]),
    { id: "ignoreKey", label: t("debug.compare.ignore", { path: key }), run: () => onIgnore(keyRule) },
  ];
}
