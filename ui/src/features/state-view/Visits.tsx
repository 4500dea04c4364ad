/** Which visit of its node is shown, with the way to the others; and whom a node waits for that did not run. */
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { useCheckpoints } from "../../debugger/model/runStore";
import { nodeList, nodeName } from "../../debugger/parts/format";
import { useVisits } from "../../debugger/state/useTaskDetail";
import { branchThrough } from "../../debugger/timeline/lanes";
import type { JoinWait } from "../../ipc/bindings/JoinWait";
import type { Visit } from "../../ipc/bindings/Visit";
import { count } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";

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

/** For a task of a node that ran more than once. */
export function VisitPicker({ threadId, node, from }: { threadId: string; node: string; from: string }) {
  const { visits, head } = useBranchVisits(threadId, node, from);
  if (!visits || visits.total < 2) return null;
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

function waitText({ came, missing }: JoinWait): string {
  const names = { missing: nodeList(missing), came: nodeList(came) };
  if (came.length === 0) return t("task.waitsAll", names);
  return tn("task.waits", "task.waitsMany", came.length, names);
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
  const { here, next, waits } = visits;
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
