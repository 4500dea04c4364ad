/**
 * The thread as a map of its branches: a lane for each, straight runs folded to one line, and what each moment is. It
 * reads all checkpoints of the thread, page by page, and draws only what is in sight.
 */
import { FoldVertical, GitBranchPlus, History, Info, UnfoldVertical, Waypoints } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Popover } from "../../components/Popover";
import { ensureStarted } from "../../debugger/model/connect";
import { loadCheckpoints, loadOlderCheckpoints } from "../../debugger/model/checkpoints";
import { useCheckpoints, useRuns } from "../../debugger/model/runStore";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { columnsOf, lanesOf } from "../../debugger/timeline/fork-map";
import { withoutAsides } from "../../debugger/timeline/without-what-ifs";
import { ForkGraph } from "../../debugger/timeline/forks";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { count } from "../../lib/intl";
import { forksIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { Playback } from "../timeline";
import { ForkMap } from "./ForkMap";
import { Legend } from "./Legend";
import type { Inner } from "./NestedLanes";

/** Checkpoints that are read at once, and at most. */
const PAGE = 2000;
const MOST = 20_000;
/** Nested graphs of one step that have a lane. */
const MOST_NESTED = 6;
const NONE: readonly CheckpointView[] = [];
const NO_IDS: ReadonlySet<string> = new Set();

export function ForksPanel() {
  useEffect(ensureStarted, []);
  const threadId = useSession((session) => session.cursor.threadId);
  if (threadId === null) {
    return (
      <EmptyState compact icon={<Waypoints size={20} aria-hidden />} title={t("forks.none")}>
        {t("forks.noneText")}
      </EmptyState>
    );
  }
  return <ThreadForks key={threadId} threadId={threadId} />;
}

/** The graph of the thread, which grows with it; `version` is another whenever it is. */
function useForks(threadId: string) {
  const pages = useCheckpoints(threadId);
  const all = pages?.list ?? NONE;
  const cursor = useSession((session) => session.cursor);
  const compareWith = useSession((session) => session.compareWith);
  const compared = compareWith?.threadId === threadId ? compareWith.checkpointId : null;
  // Rows of what-if grids are in their own tab, but for one that is looked at.
  const list = useMemo(
    () => withoutAsides(all, [cursor.checkpointId, compared]),
    [all, cursor.checkpointId, compared],
  );
  const kept = useRef<{ graph: ForkGraph; version: number }>({ graph: new ForkGraph(), version: 0 });
  const version = useMemo(() => {
    if (kept.current.graph.take(list, pages?.runs)) kept.current.version += 1;
    return kept.current.version;
  }, [list, pages?.runs]);
  useEffect(() => {
    if (pages?.state === "ready" && pages.more && all.length < MOST)
      void loadOlderCheckpoints(threadId, PAGE);
  }, [threadId, pages?.state, pages?.more, all.length]);
  return { pages, list, loaded: all.length, graph: kept.current.graph, version };
}

/** Nested graphs of the step that begins at a moment, as lanes below it. */
function useInner(graph: ForkGraph, version: number) {
  const cursor = useSession((session) => session.cursor);
  const shown = useRuns((store) => store.shown);
  const [inner, setInner] = useState<Inner | null>(null);
  const here = shown?.place.threadId === cursor.threadId && shown?.place.checkpointId === cursor.checkpointId;
  const id = here ? shown?.view.checkpoint?.id : undefined;
  const tasks = useMemo(
    () => (here ? (shown?.view.tasks ?? []) : []).filter((task) => task.within !== undefined),
    [here, shown],
  );
  const toggle = () => {
    const node = graph.node(id);
    if (inner && (inner.checkpointId === id || tasks.length === 0)) setInner(null);
    else if (node && id !== undefined)
      setInner({
        checkpointId: id,
        lanes: tasks
          .slice(0, MOST_NESTED)
          .map(({ id: taskId, node: name, within = "" }) => ({ taskId, name, ns: within })),
        more: Math.max(0, tasks.length - MOST_NESTED),
      });
  };
  // The checkpoint may be gone.
  const known = useMemo(
    () => version >= 0 && graph.node(inner?.checkpointId) !== undefined,
    [graph, version, inner],
  );
  return { inner: known ? inner : null, toggle, possible: tasks.length > 0 || inner !== null };
}

function ThreadForks({ threadId }: { threadId: string }) {
  const { pages, list, loaded, graph, version } = useForks(threadId);
  const atNow = useSession((session) => session.cursor.checkpointId === null);
  const [isFolded, setFolded] = useState(true);
  const [opened, setOpened] = useState<ReadonlySet<string>>(NO_IDS);
  const columns = useMemo(
    () => (version >= 0 ? columnsOf(graph, opened, isFolded) : { list: [], width: 0 }),
    [graph, version, opened, isFolded],
  );
  const lanes = useMemo(() => lanesOf(version >= 0 ? graph : new ForkGraph()), [graph, version]);
  const { inner, toggle, possible } = useInner(graph, version);

  if (pages?.state === "failed" && pages.problem)
    return <ProblemNote problem={pages.problem} onRetry={() => void loadCheckpoints(threadId, true)} />;
  const isLoading = pages?.state !== "ready" || (pages.more && loaded < MOST);
  return (
    <section
      className="@container flex h-full min-h-0 flex-col"
      aria-label={t("forks.map")}
      data-testid={forksIds.panel}
    >
      <div className="flex h-8 shrink-0 items-center gap-2 px-2">
        <span
          className="min-w-0 flex-1 truncate text-2xs text-text-2 tabular-nums"
          role="status"
          data-testid={forksIds.summary}
          data-loading={isLoading || undefined}
        >
          {isLoading
            ? t("forks.loading", { n: count(list.length) })
            : [
                tn("forks.branchesOne", "forks.branches", lanes.chains.length),
                pages.more
                  ? t("forks.limited", { n: count(list.length) })
                  : tn("forks.countOne", "forks.count", list.length),
              ].join(" · ")}
        </span>
        <Playback disabled={list.length < 2} />
        <IconButton
          size="small"
          label={t(possible ? "forks.nested" : "forks.nestedOff")}
          pressed={inner !== null}
          disabled={!possible}
          onClick={toggle}
          data-testid={forksIds.nested}
        >
          <GitBranchPlus size={14} aria-hidden />
        </IconButton>
        <IconButton
          size="small"
          label={t(isFolded ? "forks.unfold" : "forks.fold")}
          pressed={isFolded}
          onClick={() => {
            setFolded(!isFolded);
            setOpened(NO_IDS);
          }}
          data-testid={forksIds.fold}
        >
          {isFolded ? <UnfoldVertical size={14} aria-hidden /> : <FoldVertical size={14} aria-hidden />}
        </IconButton>
        <Popover
          label={t("forks.legend")}
          side="top"
          align="end"
          trigger={
            <IconButton size="small" label={t("forks.legend")} data-testid={forksIds.legend}>
              <Info size={14} aria-hidden />
            </IconButton>
          }
        >
          <Legend />
        </Popover>
        <Button
          size="small"
          variant={atNow ? "ghost" : "secondary"}
          icon={<History size={13} aria-hidden />}
          disabled={atNow}
          onClick={() => useSession.getState().setCursor({ checkpointId: null })}
        >
          {t("debug.now")}
        </Button>
      </div>
      {list.length > 0 ? (
        <ForkMap
          threadId={threadId}
          head={list[0]?.id}
          graph={graph}
          columns={columns}
          lanes={lanes}
          inner={inner}
          onOpen={(ids) => setOpened((known) => new Set([...known, ...ids]))}
        />
      ) : (
        !isLoading && <p className="px-3 py-2 text-xs text-text-2">{t("forks.empty")}</p>
      )}
    </section>
  );
}
