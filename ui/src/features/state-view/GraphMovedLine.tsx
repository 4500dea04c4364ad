/** For the head of a thread: it ran on an earlier version of the graph, which can be shown and compared. */
import { FileClock } from "lucide-react";
import { Button } from "../../components/Button";
import { useNow } from "../../debugger/parts/useNow";
import { useGraphMeta } from "../../document/store";
import { when } from "../../lib/intl";
import { versionsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showVersion, useVersionOf } from "../../state/shown-version";
import { useThreadGraph } from "./useThreadGraph";

export function GraphMovedLine({
  threadId,
  checkpointId,
}: {
  threadId: string;
  checkpointId: string | null;
}) {
  const { graphId, rev } = useGraphMeta();
  const graph = useThreadGraph(threadId, checkpointId, graphId, rev);
  const shown = useVersionOf(graphId);
  const now = useNow(60_000);
  if (graph === null || graphId === null) return null;
  if (graph.version === undefined)
    return (
      <p className="flex items-center gap-2 px-3 pb-1 text-xs text-text-3" title={t("moved.unrecordedHelp")}>
        <FileClock size={14} className="shrink-0" aria-hidden />
        {t("moved.unrecorded")}
      </p>
    );
  if (!graph.moved) return null;
  const { version: id, at } = graph;
  const label = t("moved.ofRun", { time: at === undefined ? "" : when(at, now) });
  return (
    <div
      className="mx-3 mb-1 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-md bg-paused-soft px-2 py-1.5 text-xs text-text"
      data-testid={versionsIds.moved}
    >
      <FileClock size={14} className="shrink-0 text-paused" aria-hidden />
      <span className="min-w-0 flex-1 basis-40">{t("moved.line")}</span>
      {shown?.id === id ? (
        <Button size="small" variant="ghost" onClick={() => showVersion(null)}>
          {t("versions.showCurrent")}
        </Button>
      ) : (
        <Button
          size="small"
          variant="ghost"
          onClick={() => showVersion({ graphId, id, label, compare: false })}
          data-testid={versionsIds.movedShow}
        >
          {t("moved.show")}
        </Button>
      )}
      <Button
        size="small"
        variant="ghost"
        onClick={() => showVersion({ graphId, id, label, compare: true })}
        data-testid={versionsIds.movedCompare}
      >
        {t("versions.compare")}
      </Button>
    </div>
  );
}
