/** What the trace marks: the critical path, and the nodes of the canvas by time or cost. */
import { Flame, Route } from "lucide-react";
import { Button } from "../../components/Button";
import { Select } from "../../components/Select";
import { setHeat, useHeat, type HeatBy } from "../../debugger/trace/heat";
import type { CriticalPath } from "../../debugger/trace/critical";
import { traceIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";
import { timeOf } from "./format";

const HEATS: readonly { value: HeatBy; text: TextKey }[] = [
  { value: "off", text: "trace.heat.off" },
  { value: "time", text: "trace.heat.time" },
  { value: "cost", text: "trace.heat.cost" },
];

interface Props {
  readonly path: CriticalPath;
  readonly marked: boolean;
  onMark(marked: boolean): void;
}

export function Tools({ path, marked, onMark }: Props) {
  const by = useHeat((heat) => heat.by);
  return (
    <>
      <Button
        size="small"
        variant={marked ? "secondary" : "ghost"}
        icon={<Route size={13} aria-hidden />}
        aria-pressed={marked}
        title={t("trace.criticalHelp")}
        onClick={() => onMark(!marked)}
        data-testid={traceIds.critical}
      >
        {marked
          ? t("trace.criticalOf", {
              tasks: tn("trace.tasksOne", "trace.tasks", path.spans.size),
              time: timeOf(path.millis),
            })
          : t("trace.critical")}
      </Button>
      <div className="flex w-32 items-center gap-1">
        <Flame size={13} className="shrink-0 text-text-3" aria-hidden />
        <Select
          size="small"
          aria-label={t("trace.heat")}
          data-testid={traceIds.heat}
          value={by}
          options={HEATS.map(({ value, text }) => ({ value, label: t(text) }))}
          onChange={setHeat}
        />
      </div>
    </>
  );
}
