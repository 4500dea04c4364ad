/** Nothing is to be answered here: what may come next, and the step that leads there. */
import { Inbox } from "lucide-react";
import { useEffect } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { useInbox } from "../../debugger/model/inbox";
import { useRunningThreads, watchRunningGraphs } from "../../debugger/model/running-graphs";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";

interface Props {
  isFiltered: boolean;
  /** How many questions are put off. */
  asleep: number;
  onEverything(): void;
  onAsleep(): void;
}

export function EmptyDesk({ isFiltered, asleep, onEverything, onAsleep }: Props) {
  useEffect(watchRunningGraphs, []);
  const waiting = useInbox((inbox) => inbox.waiting);
  const held = useInbox((inbox) => inbox.held.length);
  const running = useRunningThreads((threads) => threads.paths.size);
  const hasGraph = useSession((session) => session.graphId !== null);
  if (isFiltered && waiting > 0)
    return (
      <EmptyState
        icon={<Inbox size={24} aria-hidden />}
        title={t("debug.inbox.noMatch")}
        action={<Button onClick={onEverything}>{t("debug.inbox.everything")}</Button>}
      >
        {tn("debug.inbox.countOne", "debug.inbox.count", waiting)}
      </EmptyState>
    );
  const next = [
    held > 0 && tn("debug.inbox.next.heldOne", "debug.inbox.next.held", held),
    running > 0 && tn("debug.inbox.next.runningOne", "debug.inbox.next.running", running),
    asleep > 0 && tn("debug.inbox.next.asleepOne", "debug.inbox.next.asleep", asleep),
  ].filter((line) => line !== false);
  return (
    <EmptyState
      icon={<Inbox size={24} aria-hidden />}
      title={t("debug.inbox.none")}
      action={
        asleep > 0 ? (
          <Button onClick={onAsleep}>{t("debug.inbox.showAsleep")}</Button>
        ) : hasGraph ? (
          <Button onClick={() => useSession.getState().setUse("debug")}>{t("debug.inbox.toDebug")}</Button>
        ) : (
          <Button onClick={() => useSession.getState().setUse("design")}>{t("debug.inbox.toGraphs")}</Button>
        )
      }
    >
      <div className="flex flex-col gap-1" data-testid={debugIds.deskEmpty}>
        {next.length === 0 ? t("debug.inbox.noneText") : next.map((line) => <p key={line}>{line}</p>)}
      </div>
    </EmptyState>
  );
}
