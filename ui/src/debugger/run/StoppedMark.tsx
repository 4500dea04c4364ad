/** Marks what has a run that stopped at a breakpoint and was not looked at: a thread, or a graph by its file. */
import { Octagon } from "lucide-react";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useStops } from "./stops";

interface Props {
  readonly threadId?: string;
  readonly path?: string | null | undefined;
}

export function StoppedMark({ threadId, path }: Props) {
  const stopped = useStops(({ stops }) => {
    if (threadId !== undefined) return stops.get(threadId);
    if (path === null || path === undefined) return undefined;
    return [...stops.values()].find((each) => each.path === path);
  });
  if (stopped === undefined) return null;
  return (
    <span
      className="inline-flex shrink-0 text-paused"
      title={stopped.reason.replaceAll("`", "")}
      data-testid={debugIds.stoppedMark}
    >
      <Octagon size={12} fill="currentColor" aria-hidden />
      <span className="sr-only">{t("stops.mark")}</span>
    </span>
  );
}
