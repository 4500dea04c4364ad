/** One line that says which moment is shown: step, what made it, what comes next. */
import { History } from "lucide-react";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { nodeList } from "../../debugger/parts/format";
import type { Loaded } from "../../debugger/model/snapshots";
import { count, fullTime } from "../../lib/intl";
import { t } from "../../lib/texts";

export function MomentLine({ loaded, past }: { loaded: Loaded; past: boolean }) {
  const { checkpoint, previousTasks, next, counted } = loaded.view;
  if (!checkpoint) return null;
  const by = previousTasks.map((task) => task.node);
  const made =
    checkpoint.source === "update"
      ? t("debug.editedAs", { node: checkpoint.asNode ?? "?" })
      : checkpoint.source === "input"
        ? checkpoint.step < 0
          ? ""
          : t("debug.source.input")
        : checkpoint.source === "fork"
          ? t("debug.source.fork")
          : by.length > 0
            ? t("debug.afterNodes", { nodes: nodeList(by) })
            : "";
  return (
    <div
      className={`flex items-start gap-2 px-3 py-2 text-xs ${past ? "bg-past-soft text-past" : "text-text-2"}`}
      title={fullTime(checkpoint.at)}
    >
      {past && <History size={14} className="mt-px shrink-0" aria-hidden />}
      <p className="tabular-nums min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="font-semibold">
          {checkpoint.step < 0 ? t("debug.source.input") : t("debug.stepN", { n: checkpoint.step })}
        </span>
        {made !== "" && ` · ${made}`}
        {" · "}
        {next.length > 0 ? t("debug.next", { nodes: nodeList(next) }) : t("debug.nothingNext")}
        {counted !== undefined && ` · ${t("debug.counted", { n: count(counted) })}`}
      </p>
      <span className="-my-1 shrink-0">
        <CopyButton text={checkpoint.id} label={t("debug.timeline.copyId")} />
      </span>
    </div>
  );
}
