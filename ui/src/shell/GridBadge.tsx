/** What-if grids run in the background while editing goes on: how far they have come, and the way back to them. */
import { FlaskConical } from "lucide-react";
import { useEffect, useMemo } from "react";
import { Tooltip } from "../components/Tooltip";
import {
  chooseGrid,
  followGrids,
  gridProgress,
  type GridProgress,
  seeGrid,
  useGrids,
} from "../debugger/model/what-ifs";
import { openMoment } from "../debugger/run/open-moment";
import { whatIfIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { tabOf } from "../state/tabs";
import { showTab } from "./graph-tabs";

async function show({ grid: { id, threadId } }: GridProgress): Promise<void> {
  const graphId = useGrids.getState().graphs.get(id);
  chooseGrid(threadId, id);
  seeGrid(id);
  if (graphId !== undefined && tabOf(graphId)) {
    if (!(await showTab(graphId))) return;
    const session = useSession.getState();
    session.setUse("debug");
    if (session.cursor.threadId !== threadId) session.setCursor({ threadId, checkpointId: null });
  } else await openMoment({ threadId, checkpointId: null });
  useSession.getState().showTab("bottom", "what-if", "debug");
}

export function GridBadge() {
  useEffect(followGrids, []);
  const threads = useGrids((store) => store.threads);
  const unseen = useGrids((store) => store.unseen);
  const progress = useMemo(() => gridProgress({ threads, unseen }), [threads, unseen]);
  if (!progress) return null;
  const { running, done, total } = progress;
  const label = t(running ? "whatIf.badge.running" : "whatIf.badge.ended", { done, total });
  return (
    <>
      <span role="status" className="sr-only">
        {running ? "" : label}
      </span>
      <Tooltip label={label}>
        <button
          type="button"
          aria-label={label}
          className="relative inline-flex h-7 shrink-0 items-center gap-1.25 overflow-hidden rounded-md bg-surface-4 px-2 text-xs/inherit font-medium tabular-nums hover:bg-surface-3"
          onClick={() => void show(progress)}
          data-testid={whatIfIds.badge}
          data-running={running}
        >
          <FlaskConical size={14} className={running ? "text-running" : "text-done"} aria-hidden />
          <span>{running ? `${done}/${total}` : t("whatIf.ended", { n: done })}</span>
          {running && (
            <span
              className="absolute bottom-0 left-0 h-0.5 bg-running"
              style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }}
              aria-hidden
            />
          )}
        </button>
      </Tooltip>
    </>
  );
}
