/** To whom a question was handed, in words. */
import type { Delegation } from "../../ipc/bindings/Delegation";
import { fullTime, listed } from "../../lib/intl";
import { t } from "../../lib/texts";

export const handedText = ({ to, escalated }: Delegation): string =>
  t(escalated ? "debug.hand.escalatedTo" : "debug.hand.handedTo", { who: listed(to) });

/** Also by whom, when and why. */
export function handedWhole(delegation: Delegation): string {
  const { by, at, why } = delegation;
  const parts = [
    by === undefined ? fullTime(at) : t("debug.hand.by", { who: by, time: fullTime(at) }),
    ...(why === undefined ? [] : [why]),
  ];
  return [handedText(delegation), ...parts].join(" · ");
}
