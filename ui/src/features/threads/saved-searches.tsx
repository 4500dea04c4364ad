/** Saved searches as filters of the list of threads. */
import { Bookmark } from "lucide-react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import type { MenuEntry } from "../../components/Menu";
import { MOST_FOUND } from "../../debugger/model/found-threads";
import { setThreadFilter } from "../../debugger/model/thread-list";
import { useRuns } from "../../debugger/model/runStore";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { queryOf, requestOf } from "../query";

/** The entries of the filter's menu; none while no search is saved. */
export function useSavedSearches(): MenuEntry[] {
  const saved = useSession((session) => session.appInfo?.settings.queries) ?? [];
  const graphId = useSession((session) => session.graphId);
  const current = useRuns((store) => store.filter.found?.name ?? null);
  if (saved.length === 0 || graphId === null) return [];
  return [
    { id: "saved", heading: t("query.saved") },
    ...saved.map((one): MenuEntry => ({
      id: `saved-${one.name}`,
      label: one.name,
      checked: current === one.name,
      run: () => {
        const request = requestOf(queryOf(one), graphId, Date.now());
        if (request !== null)
          setThreadFilter({
            found: { name: one.name, request: { ...request, graphId } },
            status: null,
            labels: null,
            search: "",
          });
      },
    })),
    { id: "savedLine", separator: true },
  ];
}

/** Which saved search the list shows, and what ends it. */
export function FoundBadge() {
  const found = useRuns((store) => store.filter.found);
  const many = useRuns((store) => store.order.length >= MOST_FOUND);
  if (found === null) return null;
  return (
    <div className="flex items-center gap-1 px-2 pt-2" data-testid={debugIds.foundBadge}>
      <Badge
        icon={<Bookmark size={11} aria-hidden />}
        title={many ? t("debug.threads.foundMost", { n: MOST_FOUND }) : found.name}
      >
        {found.name}
      </Badge>
      <Button size="small" variant="ghost" onClick={() => setThreadFilter({ found: null })}>
        {t("debug.threads.showAll")}
      </Button>
    </div>
  );
}
