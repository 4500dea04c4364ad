/** Why a task that failed was not tried again although its node has attempts, and the way to that setting. */
import { Button } from "../../components/Button";
import { InlineMarkdown } from "../../components/Markdown";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

export function NotRetried({
  node,
  reason,
  nested = false,
}: {
  node: string;
  reason: string | undefined;
  /** The node is in a graph inside the open one: its settings are not here. */
  nested?: boolean;
}) {
  if (reason === undefined) return null;
  const open = () => {
    const session = useSession.getState();
    session.select({ nodes: [node] });
    session.showTab("right", "inspector");
    session.focusField(`node:${node}`, "/retry");
  };
  return (
    <div className="mt-1 flex flex-col items-start gap-1 text-xs" data-testid={debugIds.notRetried}>
      <p className="[overflow-wrap:anywhere]">
        <InlineMarkdown text={reason} />
      </p>
      {!nested && (
        <Button size="small" onClick={open}>
          {t("debug.tasks.retry")}
        </Button>
      )}
    </div>
  );
}
