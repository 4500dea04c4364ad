/** Says in lists of graphs that a graph runs, whichever is shown. */
import { useEffect } from "react";
import { Spinner } from "../../components/Spinner";
import { t } from "../../lib/texts";
import { useRunningThreads, watchRunningGraphs } from "../model/running-graphs";

export function RunningMark({ path }: { path: string | null | undefined }) {
  useEffect(watchRunningGraphs, []);
  const runs = useRunningThreads(
    ({ paths }) =>
      path !== null && path !== undefined && [...paths.values()].some((running) => running === path),
  );
  return runs ? <Spinner size={12} label={t("debug.status.running")} /> : null;
}
