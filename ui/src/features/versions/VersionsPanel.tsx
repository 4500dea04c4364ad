/**
 * Versions of the open graph, newest first: those that runs keep with their threads, saves, automatic copies and those with a
 * name. One is shown on the canvas, compared with the graph as it is now, named or restored; restoring can be undone.
 */
import { GitCompareArrows, History, MessagesSquare, Pencil, RotateCcw, Tag } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { openMoment } from "../../debugger/run/open-moment";
import { useGraphMeta } from "../../document/store";
import type { GraphVersions } from "../../ipc/bindings/GraphVersions";
import type { GraphVersionView } from "../../ipc/bindings/GraphVersionView";
import { rpc, RpcProblem } from "../../ipc/client";
import { momentText } from "../../lib/intl";
import { formsIds, versionsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { showVersion, useVersionOf, type VersionName } from "../../state/shown-version";
import { nameVersion, restoreVersion } from "./actions";
import { VersionDiff } from "./VersionDiff";

type Load =
  { state: "loading" } | { state: "failed"; problem: RpcProblem } | { state: "ready"; list: GraphVersions };

export function VersionsPanel() {
  const { graphId, rev } = useGraphMeta();
  const [load, setLoad] = useState<Load>({ state: "loading" });
  /** Whose name is typed: the place in the list, or `now`. */
  const [naming, setNaming] = useState<string | null>(null);

  const read = useCallback(() => {
    if (graphId === null) return undefined;
    const abort = new AbortController();
    rpc("graph.versions", { graphId }, abort.signal).then(
      (list) => setLoad({ state: "ready", list }),
      (thrown: unknown) => {
        if (!abort.signal.aborted) setLoad({ state: "failed", problem: RpcProblem.from(thrown) });
      },
    );
    return () => abort.abort();
  }, [graphId]);
  // A new copy comes some time after an edit; each accepted edit is a good moment to look.
  useEffect(read, [read, rev]);

  const name = async (id: string | null, chosen: string | null) => {
    setNaming(null);
    const list = await nameVersion(id, chosen);
    if (list) setLoad({ state: "ready", list });
  };

  if (load.state === "loading") {
    return (
      <div className="flex justify-center p-6 text-text-3">
        <Spinner label={t("forms.versions.loading")} />
      </div>
    );
  }
  if (load.state === "failed") {
    return (
      <EmptyState
        compact
        tone="failed"
        title={t("forms.versions.failed")}
        action={<Button onClick={read}>{t("forms.retry")}</Button>}
      >
        {load.problem.message} {load.problem.remedy}
      </EmptyState>
    );
  }
  const { versions, current, unread } = load.list;
  const names = versions.map(({ id, name: given, at }) => ({ id, label: given ?? momentText(at) }));
  return (
    <div className="h-full overflow-y-auto p-1.5">
      <div className="px-2 pb-1.5">
        {naming === "now" ? (
          <NameForm
            initial=""
            onName={(chosen) => void name(null, chosen)}
            onCancel={() => setNaming(null)}
          />
        ) : (
          <Button
            size="small"
            icon={<Tag size={13} aria-hidden />}
            onClick={() => setNaming("now")}
            data-testid={versionsIds.nameNow}
          >
            {t("versions.nameNow")}
          </Button>
        )}
      </div>
      {unread !== undefined && (
        <p className="px-2 pb-1 text-xs text-asking">{t("versions.unread", { why: unread })}</p>
      )}
      {versions.length === 0 ? (
        <EmptyState compact icon={<History size={20} />} title={t("forms.versions.none")}>
          {t("versions.noneHelp")}
        </EmptyState>
      ) : (
        <ul aria-label={t("forms.versions.list")} data-testid={formsIds.versions}>
          {versions.map((version, index) => (
            <Version
              key={version.id}
              version={version}
              index={index}
              isCurrent={version.hash === current}
              naming={naming === version.id}
              onNaming={(on) => setNaming(on ? version.id : null)}
              onName={(chosen) => void name(version.id, chosen)}
              names={names}
              onRestored={read}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface VersionProps {
  readonly version: GraphVersionView;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly naming: boolean;
  /** All versions, to compare with. */
  readonly names: readonly VersionName[];
  onNaming(on: boolean): void;
  onName(name: string | null): void;
  onRestored(): void;
}

function Version({ version, index, isCurrent, naming, names, onNaming, onName, onRestored }: VersionProps) {
  const { graphId } = useGraphMeta();
  const shown = useVersionOf(graphId);
  const [busy, setBusy] = useState(false);
  const time = momentText(version.at);
  const label = version.name ?? time;
  const isShown = shown?.id === version.id;
  const show = (compare: boolean) => {
    if (graphId !== null) showVersion({ graphId, id: version.id, label, compare });
  };
  const restore = async () => {
    setBusy(true);
    await restoreVersion(version.id, time);
    setBusy(false);
    onRestored();
  };
  return (
    <li
      className="rounded-md px-2 py-1.5 hover:bg-surface-3 data-shown:bg-accent-soft"
      data-shown={isShown || undefined}
      data-testid={formsIds.version(index)}
    >
      <div className="flex items-start gap-1">
        <button
          type="button"
          className="flex min-w-0 flex-1 flex-col text-left leading-4.5"
          aria-pressed={isShown}
          onClick={() => (isShown ? showVersion(null) : show(false))}
        >
          <span className="flex items-center gap-1.5">
            <span className="truncate font-medium tabular-nums">{label}</span>
            {isCurrent && <Badge>{t("versions.current")}</Badge>}
          </span>
          <span className="text-2xs/[15px] text-text-3 tabular-nums">
            {version.name !== undefined && `${time} · `}
            {tn("forms.many.node", "forms.many.nodes", version.nodes)},{" "}
            {tn("forms.many.edge", "forms.many.edges", version.edges)}
          </span>
        </button>
        <IconButton
          size="small"
          label={t("versions.nameLabel", { time })}
          onClick={() => onNaming(!naming)}
          data-testid={versionsIds.name(index)}
        >
          <Pencil size={13} aria-hidden />
        </IconButton>
        <IconButton size="small" label={t("versions.compare")} onClick={() => show(true)}>
          <GitCompareArrows size={13} aria-hidden />
        </IconButton>
        <Button
          size="small"
          icon={<RotateCcw size={13} aria-hidden />}
          aria-label={t("forms.versions.restoreLabel", { time })}
          busy={busy}
          disabled={isCurrent}
          onClick={() => void restore()}
        >
          {t("forms.versions.restore")}
        </Button>
      </div>
      {version.threadId !== undefined && <Ran version={version} threadId={version.threadId} />}
      {naming && (
        <NameForm
          initial={version.name ?? ""}
          onName={onName}
          onCancel={() => onNaming(false)}
          {...(version.name !== undefined && { onRemove: () => onName(null) })}
        />
      )}
      {isShown && shown.compare && <VersionDiff version={shown} versions={names} />}
    </li>
  );
}

function Ran({ version, threadId }: { version: GraphVersionView; threadId: string }) {
  return (
    <button
      type="button"
      className="flex items-center gap-1 text-2xs/[15px] text-text-2 hover:underline"
      title={t("versions.openThread")}
      onClick={() => void openMoment({ threadId, checkpointId: null })}
    >
      <MessagesSquare size={11} aria-hidden />
      {tn("versions.ranOne", "versions.ran", version.threads)}
    </button>
  );
}

function NameForm({
  initial,
  onName,
  onCancel,
  onRemove,
}: {
  initial: string;
  onName(name: string): void;
  onCancel(): void;
  onRemove?(): void;
}) {
  const [text, setText] = useState(initial);
  const isEmpty = text.trim() === "";
  return (
    <form
      className="flex items-center gap-1.5 py-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) onName(text);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <TextField
        aria-label={t("versions.nameField")}
        placeholder={t("versions.nameField")}
        value={text}
        onChange={setText}
        autoFocus
        data-testid={versionsIds.nameField}
      />
      <Button size="small" type="submit" disabled={isEmpty}>
        {t("versions.nameSave")}
      </Button>
      {onRemove && (
        <Button size="small" variant="ghost" onClick={onRemove}>
          {t("versions.nameRemove")}
        </Button>
      )}
    </form>
  );
}
