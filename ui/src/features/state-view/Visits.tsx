/** Which visit of its node is shown, with the way to the others; and whom a node waits for that did not run. */
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { useCheckpoints } from "../../debugger/model/runStore";
import { nodeList, nodeName } from "../../debugger/parts/format";
import { useVisits } from "../../debugger/state/useTaskDetail";
import { branchThrough } from "../../debugger/timeline/lanes";
import type { EdgeNotTaken } from "../../ipc/bindings/EdgeNotTaken";
import type { JoinArrival } from "../../ipc/bindings/JoinArrival";
import type { JoinWait } from "../../ipc/bindings/JoinWait";
import type { Visit } from "../../ipc/bindings/Visit";
import type { VisitsView } from "../../ipc/bindings/VisitsView";
import { count, listed } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { shown } from "./TaskRecord";

function useBranchVisits(threadId: string, node: string, from: string | undefined) {
  const list = useCheckpoints(threadId)?.list;
  const tip = list && from !== undefined ? branchThrough(list, from).at(-1) : undefined;
  return { visits: useVisits(threadId, node, from, tip), head: list?.[0]?.id };
}

function go(node: string, visit: Visit, head: string | undefined): void {
  const session = useSession.getState();
  session.select({ nodes: [node] });
  session.setCursor({ checkpointId: visit.checkpointId === head ? null : visit.checkpointId });
}

/** For a task: who came to the join before it, and, of a node that ran more than once, which visit it is. */
export function VisitPicker({ threadId, node, from }: { threadId: string; node: string; from: string }) {
  const { visits, head } = useBranchVisits(threadId, node, from);
  if (!visits) return null;
  const joined = visits.waits.filter((wait) => wait.missing.length === 0);
  return (
    <>
      {joined.map((wait) => (
        <p
          key={wait.came.map((each) => each.node).join("+")}
          className="px-3 pt-1 text-xs text-text-2"
          data-testid={taskIds.joined}
        >
          {waitText(wait)}
        </p>
      ))}
      {visits.total > 1 && <Picker visits={visits} node={node} from={from} head={head} />}
    </>
  );
}

function Picker({
  visits,
  node,
  from,
  head,
}: {
  visits: VisitsView;
  node: string;
  from: string;
  head: string | undefined;
}) {
  const { first, previous, next, last, at, total, counted } = visits;
  const button = (
    icon: typeof ChevronLeft,
    label: string,
    visit: Visit | undefined,
    rest: { "data-testid"?: string; shortcut?: string } = {},
  ) => {
    const Icon = icon;
    return (
      <IconButton
        size="small"
        label={label}
        disabled={!visit || visit.checkpointId === from}
        onClick={() => visit && go(node, visit, head)}
        {...rest}
      >
        <Icon size={14} aria-hidden />
      </IconButton>
    );
  };
  return (
    <div className="flex items-center gap-0.5 px-3 py-1 text-xs text-text-2" data-testid={taskIds.visits}>
      {button(ChevronFirst, t("task.visitFirst"), first)}
      {button(ChevronLeft, t("task.visitPrevious"), previous, {
        "data-testid": taskIds.visitPrevious,
        shortcut: shortcutOf("debug.previousVisit"),
      })}
      <span className="tabular-nums px-1 font-medium text-text">
        {t("task.visit", { n: count(at), total: count(total) })}
      </span>
      {button(ChevronRight, t("task.visitNext"), next, {
        "data-testid": taskIds.visitNext,
        shortcut: shortcutOf("debug.nextVisit"),
      })}
      {button(ChevronLast, t("task.visitLast"), last)}
      {counted !== undefined && (
        <span className="tabular-nums ml-1">{t("task.visitCounted", { n: count(counted) })}</span>
      )}
    </div>
  );
}

const arrival = ({ node, visit }: JoinArrival): string =>
  visit ? t("task.arrival", { node: nodeName(node), step: visit.step }) : nodeName(node);

/** Who came to a join, in which step, and whom it waits for. */
function waitText({ came, missing }: JoinWait): string {
  const names = { missing: nodeList(missing), came: listed(came.map(arrival)) };
  if (missing.length === 0) return t("task.joined", names);
  if (came.length === 0) return t("task.waitsAll", names);
  return tn("task.waits", "task.waitsMany", came.length, names);
}

/** Where the node led instead from which an edge leads here. */
function NotTaken({ way }: { way: EdgeNotTaken }) {
  const from = nodeName(way.from);
  if (!way.ran) return <li>{t("task.notTaken.from", { from })}</li>;
  const { to = [], expression, result } = way.decision ?? {};
  return (
    <li>
      {to.length === 0
        ? t("task.notTaken.edge", { from })
        : t("task.notTaken.elsewhere", { from, to: nodeList(to) })}
      {expression !== undefined && (
        <span className="ml-1 font-mono wrap-anywhere">
          {expression}
          {result && ` → ${shown(result)}`}
        </span>
      )}
    </li>
  );
}

/** For a node that has no task at the moment: why, and where it has one. */
export function NoTask({
  threadId,
  node,
  checkpointId,
}: {
  threadId: string;
  node: string;
  checkpointId: string | undefined;
}) {
  const { visits, head } = useBranchVisits(threadId, node, checkpointId);
  if (!visits) return <p className="px-3 py-2 text-xs text-text-2">{t("debug.loading")}</p>;
  const { here, next, notTaken = [] } = visits;
  const waits = visits.waits.filter((wait) => wait.missing.length > 0);
  return (
    <div className="flex flex-col items-start gap-1.5 px-3 py-2 text-xs" data-testid={taskIds.noTask}>
      <p>
        {t(visits.total === 0 ? "task.visitNone" : "task.visitBefore", { node: nodeName(node) })}
        {visits.counted !== undefined && ` ${t("task.visitCounted", { n: count(visits.counted) })}.`}
      </p>
      {waits.map((wait) => (
        <p key={wait.missing.join("+")} className="text-text-2">
          {waitText(wait)}
        </p>
      ))}
      {notTaken.length > 0 && (
        <ul className="flex flex-col gap-0.5 text-text-2" data-testid={taskIds.notTaken}>
          {notTaken.map((way) => (
            <NotTaken key={`${way.edge} ${way.from}`} way={way} />
          ))}
        </ul>
      )}
      {here && (
        <Button size="small" onClick={() => go(node, here, head)} data-testid={taskIds.visitPrevious}>
          {t("task.visitGo", { step: here.step })}
        </Button>
      )}
      {next && (
        <Button size="small" onClick={() => go(node, next, head)} data-testid={taskIds.visitNext}>
          {t("task.visitFuture", { step: next.step })}
        </Button>
      )}
    </div>
  );
}
