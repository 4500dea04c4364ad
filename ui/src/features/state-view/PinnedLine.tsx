/** For the head of a thread: the nodes that did not work in its last run, because their output is pinned. */
import { Pin } from "lucide-react";
import { useThread } from "../../debugger/model/runStore";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { tn } from "../../lib/texts";

export function PinnedLine({ threadId }: { threadId: string }) {
  const pinned = useThread(threadId)?.pinned ?? [];
  if (pinned.length === 0) return null;
  return (
    <p
      className="flex items-center gap-2 px-3 pb-1 text-xs text-text-2"
      title={listed(pinned)}
      data-testid={debugIds.pinnedRun}
    >
      <Pin size={14} className="shrink-0" aria-hidden />
      <span className="min-w-0 truncate">
        {tn("pins.runOne", "pins.run", pinned.length)}: {listed(pinned)}
      </span>
    </p>
  );
}
