/** Commands that show the heat of a thread on the canvas. */
import { setHeat, useHeat, type HeatBy } from "../../debugger/trace/heat";
import { t, type TextKey } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";

const TITLES: Record<HeatBy, TextKey> = {
  off: "trace.heat.close",
  time: "trace.heat.timeTitle",
  cost: "trace.heat.costTitle",
};

export function registerTraceCommands(): () => void {
  const inThread = () => {
    const { use, cursor } = useSession.getState();
    return use === "debug" && cursor.threadId !== null;
  };
  return registerCommands(
    (["time", "cost", "off"] as const).map((by) => ({
      id: `trace.heat.${by}`,
      group: t("debug.group"),
      title: t(TITLES[by]),
      run: () => setHeat(by),
      enabled: () => inThread() && useHeat.getState().by !== by,
    })),
  );
}
