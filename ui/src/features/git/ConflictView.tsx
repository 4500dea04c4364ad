/** A graph file that git could not merge: what differs, record by record, side by side, and which side each is taken from. */
import { GitMerge, TriangleAlert } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { hintClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import {
  diffDocuments,
  joinSides,
  mergedInto,
  proposedChoices,
  type Chosen,
  type RecordChange,
} from "../../document/diff";
import { doc, useDocumentPart, useDocumentState, useDocumentVersion } from "../../document/store";
import { edit } from "../../document/edit";
import type { ConflictView as View } from "../../ipc/bindings/ConflictView";
import { listed } from "../../lib/intl";
import { gitIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { recordsOf, useConflict } from "./git";
import { fieldText, recordText, valueText } from "./records";

/** Is there a conflict to solve in the graph that is shown? */
export function useConflicted(): boolean {
  const conflict = useConflict((state) => state.conflict);
  const graphId = useDocumentState((state) => state.graphId);
  const read = useCallback(() => {
    if (conflict === null || conflict.graphId !== graphId) return false;
    // What was taken over of a file with marks is a graph; undo leads back here.
    return conflict.save !== undefined || doc.records().length <= 1;
  }, [conflict, graphId]);
  return useDocumentPart(read);
}

export function ConflictView() {
  const conflict = useConflict((state) => state.conflict);
  if (conflict === null) return null;
  if (conflict.problem) {
    return (
      <EmptyState tone="failed" icon={<TriangleAlert size={20} />} title={conflict.problem.message}>
        {conflict.problem.remedy}
      </EmptyState>
    );
  }
  if (conflict.view === null) {
    return (
      <div className="m-auto">
        <Spinner label={t("conflict.reading")} />
      </div>
    );
  }
  return <Sides key={conflict.graphId} view={conflict.view} save={conflict.save} />;
}

function Sides({ view, save }: { view: View; save: (() => Promise<void>) | undefined }) {
  const version = useDocumentVersion();
  // The graph of the window is edited on while the question is open; the sides of a file with marks stand still.
  const ours = useMemo(() => {
    void version;
    return save ? [...doc.records()] : recordsOf(view.ours.records);
  }, [view, save, version]);
  const [theirs, base] = useMemo(
    () => [recordsOf(view.theirs.records), view.base ? recordsOf(view.base) : null],
    [view],
  );
  const diff = useMemo(() => diffDocuments(ours, theirs), [ours, theirs]);
  const [pressed, setPressed] = useState<ReadonlyMap<string, Chosen>>(new Map());
  const chosen = useMemo(
    () => new Map([...proposedChoices(ours, theirs, base), ...pressed]),
    [ours, theirs, base, pressed],
  );
  const open = diff.records.filter(({ id }) => !chosen.has(id)).length;
  const choose = (ids: readonly string[], side: Chosen) => {
    setPressed(new Map([...pressed, ...ids.map((id) => [id, side] as const)]));
  };
  const all = [...diff.records.map(({ id }) => id), ...diff.moved.map((name) => `layout:${name}`)];
  const use = () => {
    const patch = mergedInto(doc.records(), joinSides(ours, theirs, chosen));
    // Without the edit, saving would drop what was chosen of the file.
    if (patch.ops.length > 0 && !edit(t("conflict.edit"), patch)) return;
    if (save === undefined) return;
    useConflict.setState({ conflict: null });
    void save();
  };
  return (
    <section
      className="flex h-full min-h-0 w-full flex-col bg-surface-1"
      aria-label={t("conflict.title")}
      data-testid={gitIds.conflict}
    >
      <header className="flex shrink-0 flex-col gap-2 border-b border-line p-4 pl-12">
        <h2 className="flex items-center gap-2 text-base font-semibold">
          <GitMerge size={16} aria-hidden />
          {t(save ? "conflict.disk" : "conflict.title")}
        </h2>
        <p className={hintClass}>
          {save
            ? t("conflict.diskHelp")
            : t("conflict.help", { ours: view.ours.name, theirs: view.theirs.name })}
        </p>
        <div className="flex flex-wrap items-center gap-2">
          <Button size="small" onClick={() => choose(all, "ours")} data-testid={gitIds.allOurs}>
            {t("conflict.all", { side: view.ours.name })}
          </Button>
          <Button size="small" onClick={() => choose(all, "theirs")} data-testid={gitIds.allTheirs}>
            {t("conflict.all", { side: view.theirs.name })}
          </Button>
          <span className="flex-1" />
          <span className="text-xs text-text-2 tabular-nums" role="status">
            {open === 0 ? t("conflict.ready") : tn("conflict.open.one", "conflict.open.many", open)}
          </span>
          {save && (
            <Button onClick={() => useConflict.setState({ conflict: null })} data-testid={gitIds.later}>
              {t("conflict.later")}
            </Button>
          )}
          <Button variant="primary" disabled={open > 0} onClick={use} data-testid={gitIds.useResult}>
            {t(save ? "conflict.save" : "conflict.use")}
          </Button>
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4 pl-12">
        <ul className="flex flex-col gap-3">
          {diff.records.map((record) => (
            <Choice
              key={record.id}
              record={record}
              names={[view.ours.name, view.theirs.name]}
              chosen={chosen.get(record.id) ?? null}
              onChoose={(side) => choose([record.id], side)}
            />
          ))}
        </ul>
        {diff.records.length === 0 && <p className={hintClass}>{t("conflict.layoutOnly")}</p>}
        {diff.moved.length > 0 && (
          <p className="pt-3 text-xs text-text-3">
            {tn("git.moved.one", "git.moved.many", diff.moved.length)}: {listed(diff.moved.slice(0, 12))}
          </p>
        )}
      </div>
    </section>
  );
}

interface ChoiceProps {
  readonly record: RecordChange;
  readonly names: readonly [string, string];
  readonly chosen: Chosen | null;
  onChoose(side: Chosen): void;
}

function Choice({ record, names, chosen, onChoose }: ChoiceProps) {
  const title = recordText(record.id);
  return (
    <li className="flex min-w-0 flex-col gap-1" data-testid={gitIds.choice(record.id)}>
      <h3 className="flex items-center gap-2 text-xs font-semibold">
        {title}
        {chosen === null && <Badge tone="warning">{t("conflict.choose")}</Badge>}
      </h3>
      <div className="grid grid-cols-2 gap-2" role="radiogroup" aria-label={title}>
        <Side
          side="ours"
          name={names[0]}
          record={record}
          chosen={chosen === "ours"}
          onChoose={() => onChoose("ours")}
        />
        <Side
          side="theirs"
          name={names[1]}
          record={record}
          chosen={chosen === "theirs"}
          onChoose={() => onChoose("theirs")}
        />
      </div>
    </li>
  );
}

interface SideProps {
  readonly side: Chosen;
  readonly name: string;
  readonly record: RecordChange;
  readonly chosen: boolean;
  onChoose(): void;
}

/** One side of a record: only the fields that differ, or the whole of it when the other side has none. */
function Side({ side, name, record, chosen, onChoose }: SideProps) {
  const value = side === "ours" ? record.before : record.after;
  const fields =
    record.change === "changed"
      ? record.fields.map(({ pointer, before, after }) => ({
          label: fieldText(record, pointer),
          value: side === "ours" ? before : after,
        }))
      : [{ label: "", value }];
  return (
    <button
      type="button"
      role="radio"
      aria-checked={chosen}
      className="flex min-w-0 flex-col items-stretch gap-1 rounded-md border border-line bg-surface-2 p-2 text-left hover:border-line-field aria-checked:border-accent aria-checked:bg-accent-soft"
      onClick={onChoose}
      data-testid={gitIds.side(record.id, side)}
    >
      <span className="text-2xs font-semibold text-text-2">{name}</span>
      {value === undefined ? (
        <span className="text-xs text-text-3">{t("conflict.absent")}</span>
      ) : (
        fields.map((field) => (
          <span key={field.label} className="flex min-w-0 flex-col">
            {field.label !== "" && <span className="text-2xs text-text-3">{field.label}</span>}
            {field.value === undefined ? (
              <span className="text-2xs text-text-3">{t("conflict.unset")}</span>
            ) : (
              <code className="max-h-48 overflow-auto font-mono text-2xs whitespace-pre-wrap wrap-anywhere">
                {valueText(field.value)}
              </code>
            )}
          </span>
        ))
      )}
    </button>
  );
}
