/** Long work under way: how far it is, and the way to stop it. */
import { Button } from "../../components/Button";
import { Spinner } from "../../components/Spinner";
import { count } from "../../lib/intl";
import { storageIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { stopJob, useJobs } from "../../state/jobs";
import { storageActionsClass } from "../../components/recipes";

export function Working({ work, label }: { work: string | null; label: string }) {
  const progress = useJobs((store) => (work === null ? undefined : store.going.get(work)));
  return (
    <div className={storageActionsClass} data-testid={storageIds.working}>
      <Spinner label={label} />
      {progress && progress.total > 0 && (
        <span className="tabular-nums">
          {t("storage.of", { done: count(progress.done), total: count(progress.total) })}
        </span>
      )}
      {work !== null && (
        <Button size="small" onClick={() => stopJob(work)}>
          {t("storage.stop")}
        </Button>
      )}
    </div>
  );
}
