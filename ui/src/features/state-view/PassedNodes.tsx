/** For the head of a thread: the nodes that did not work in its last run, because they are disabled or their output is pinned. */
import { CircleOff, Pin, type LucideIcon } from "lucide-react";
import { useThread } from "../../debugger/model/runStore";
import { listed } from "../../lib/intl";
import { debugIds, structureIds } from "../../lib/testIds";
import { tn } from "../../lib/texts";

interface LineProps {
  readonly nodes: readonly string[];
  readonly text: string;
  readonly icon: LucideIcon;
  readonly testId: string;
}

function Line({ nodes, text, icon: Icon, testId }: LineProps) {
  if (nodes.length === 0) return null;
  const names = listed(nodes);
  return (
    <p className="flex items-center gap-2 px-3 pb-1 text-xs text-text-2" title={names} data-testid={testId}>
      <Icon size={14} className="shrink-0" aria-hidden />
      <span className="min-w-0 truncate">
        {text}: {names}
      </span>
    </p>
  );
}

export function PassedNodes({ threadId }: { threadId: string }) {
  const { disabled = [], pinned = [] } = useThread(threadId) ?? {};
  return (
    <>
      <Line
        nodes={disabled}
        text={tn("disabled.runOne", "disabled.run", disabled.length)}
        icon={CircleOff}
        testId={structureIds.disabledRun}
      />
      <Line
        nodes={pinned}
        text={tn("pins.runOne", "pins.run", pinned.length)}
        icon={Pin}
        testId={debugIds.pinnedRun}
      />
    </>
  );
}
