/**
 * Says on a card that its node does not work in runs: its output is pinned. In the middle drawing the sign alone. `graph` is
 * the file of a graph within the open one.
 */
import { Pin } from "lucide-react";
import { usePin } from "../debugger/run/pins";
import { debugIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { disabledMarkClass } from "./recipes";

export function PinMark({ name, graph }: { name: string; graph?: string }) {
  if (usePin(name, graph) === undefined) return null;
  return (
    <span className={disabledMarkClass} title={t("pins.help")} data-testid={debugIds.pinMark}>
      <Pin size={11} strokeWidth={2.5} aria-hidden />
      <span className="in-data-[drawing=middle]:hidden">{t("pins.badge")}</span>
    </span>
  );
}
