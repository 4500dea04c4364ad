/** For the head of a thread: the nodes that its last run passed by. */
import { CircleOff } from "lucide-react";
import { useThread } from "../../debugger/model/runStore";
import { listed } from "../../lib/intl";
import { structureIds } from "../../lib/testIds";
import { tn } from "../../lib/texts";

export function DisabledLine({ threadId }: { threadId: string }) {
  const disabled = useThread(threadId)?.disabled ?? [];
  if (disabled.length === 0) return null;
  return (
    <p
      className="flex items-center gap-2 px-3 pb-1 text-xs text-text-2"
      title={listed(disabled)}
      data-testid={structureIds.disabledRun}
    >
      <CircleOff size={14} className="shrink-0" aria-hidden />
      <span className="min-w-0 truncate">
        {tn("disabled.runOne", "disabled.run", disabled.length)}: {listed(disabled)}
      </span>
    </p>
  );
}
