/** Long work under way: how far it is, and the way to stop it. */
import { Button } from "../../components/Button";
import { Spinner } from "../../components/Spinner";
import { count } from "../../debugger/parts/format";
import { storageIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { stopWork, useWork } from "../../state/work";

export function Working({ work, label }: { work: string | null; label: string }) {
  const progress = useWork((store) => (work === null ? undefined : store.going.get(work)));
  return (
    <div className="storage-actions" data-testid={storageIds.working}>
      <Spinner label={label} />
      {progress && progress.total > 0 && (
        <span className="tabular">
          {t("storage.of", { done: count(progress.done), total: count(progress.total) })}
        </span>
      )}
      {work !== null && (
        <Button size="small" onClick={() => stopWork(work)}>
          {t("storage.stop")}
        </Button>
      )}
    </div>
  );
}
