/** What changed in the graph since the last commit: records and their fields, moved nodes apart. Only looks. */
import { GitBranch, GitCommitHorizontal, TriangleAlert } from "lucide-react";
import { useMemo } from "react";
import { goToRecord } from "../../canvas/go-to";
import { Badge } from "../../components/Badge";
import { EmptyState } from "../../components/EmptyState";
import { Fold } from "../../components/Fold";
import { panelClass } from "../../components/recipes";
import { Switch } from "../../components/Switch";
import type { Change, RecordChange } from "../../document/diff";
import { useDocumentVersion } from "../../document/store";
import { listed } from "../../lib/intl";
import { gitIds } from "../../lib/testIds";
import { problemText, t, tn } from "../../lib/texts";
import { changesNow, useGit } from "./git";
import { FieldList, fieldText, recordText } from "./records";

const TONES: Record<Change, "done" | "warning" | "failed"> = {
  added: "done",
  changed: "warning",
  removed: "failed",
};

export function ChangesPanel() {
  const view = useGit((git) => git.view);
  const marked = useGit((git) => git.marked);
  const version = useDocumentVersion();
  const diff = useMemo(() => {
    void version;
    return changesNow(view);
  }, [view, version]);
  if (view === null) {
    return (
      <EmptyState compact icon={<GitBranch size={20} />} title={t("git.none")}>
        {t("git.noneHelp")}
      </EmptyState>
    );
  }
  if (view.problem) {
    const { message, remedy } = problemText(view.problem);
    return (
      <EmptyState compact tone="failed" icon={<TriangleAlert size={20} />} title={message}>
        {remedy}
      </EmptyState>
    );
  }
  const same = diff !== null && diff.records.length === 0 && diff.moved.length === 0;
  return (
    <div className={panelClass} data-testid={gitIds.changes}>
      <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-xs">
        <span className="inline-flex min-w-0 items-center gap-1.5 text-text-2" title={view.commit}>
          <GitBranch size={13} aria-hidden />
          <span className="truncate">{view.branch ?? t("git.detached")}</span>
          {view.commit !== undefined && (
            <>
              <GitCommitHorizontal size={13} aria-hidden />
              <code>{view.commit.slice(0, 8)}</code>
            </>
          )}
        </span>
        <span className="font-medium" role="status" data-testid={gitIds.summary}>
          {diff === null
            ? t("git.new")
            : same
              ? t("git.same")
              : tn("git.count.one", "git.count.many", diff.records.length)}
        </span>
        <span className="flex-1" />
        {diff !== null && (
          <label className="inline-flex items-center gap-2">
            <Switch
              checked={marked}
              onChange={(next) => useGit.setState({ marked: next })}
              data-testid={gitIds.mark}
            />
            {t("git.mark")}
          </label>
        )}
      </header>
      <div className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto pb-2">
        {diff?.records.map((record) => (
          <Row key={record.id} record={record} />
        ))}
        {diff !== null && diff.moved.length > 0 && (
          <p className="px-3 py-1 text-xs text-text-3" data-testid={gitIds.moved}>
            {tn("git.moved.one", "git.moved.many", diff.moved.length)}: {brief(diff.moved)}
          </p>
        )}
      </div>
    </div>
  );
}

const SHOWN = 12;
const brief = (names: readonly string[]) =>
  names.length <= SHOWN ? listed(names) : listed([...names.slice(0, SHOWN), "…"]);

function Row({ record }: { record: RecordChange }) {
  const head = (
    <span className="flex min-w-0 flex-1 items-center gap-2 text-xs">
      <Badge tone={TONES[record.change]}>{t(`git.change.${record.change}`)}</Badge>
      <span className="min-w-0 truncate font-medium">{recordText(record.id)}</span>
      {record.change === "changed" && (
        <span className="min-w-0 truncate text-text-3">
          {listed(record.fields.map(({ pointer }) => fieldText(record, pointer)))}
        </span>
      )}
    </span>
  );
  return (
    <div className="flex flex-col" data-testid={gitIds.record(record.id)}>
      <Fold head={head} small>
        {() => (
          <div className="flex flex-col gap-1 py-1 pr-3 pl-7">
            <FieldList record={record} />
            {record.change !== "removed" && (
              <button
                type="button"
                className="self-start text-2xs text-accent-text underline underline-offset-2"
                onClick={() => goToRecord(record.id, record.fields[0]?.pointer ?? null)}
              >
                {t("git.show")}
              </button>
            )}
          </div>
        )}
      </Fold>
    </div>
  );
}
