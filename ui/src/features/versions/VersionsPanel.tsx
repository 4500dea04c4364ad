/**
 * Versions of the open graph, newest first: those that runs keep with their threads, saves, automatic copies and those with a
 * name; below them the commits of its file. One is shown on the canvas, compared with the graph as it is now, named or restored; restoring can be undone.
 */
import { History, MessagesSquare, Pencil, Search, Tag, X } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { firstLine } from "../../debugger/parts/Summary";
import { openMoment } from "../../debugger/run/open-moment";
import { useGraphMeta } from "../../document/store";
import type { CommitView } from "../../ipc/bindings/CommitView";
import type { GraphVersions } from "../../ipc/bindings/GraphVersions";
import type { GraphVersionView } from "../../ipc/bindings/GraphVersionView";
import { rpc, RpcProblem } from "../../ipc/client";
import { listed, momentText } from "../../lib/intl";
import { formsIds, versionsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import type { VersionName } from "../../state/shown-version";
import { nameVersion } from "./actions";
import { CommitList, commitName, commitTexts } from "./CommitList";
import { useHistory } from "./history";
import { NameDialog, type NameAndNote } from "./NameDialog";
import { isFound } from "./search";
import { VersionRow } from "./VersionRow";

type Load =
  { state: "loading" } | { state: "failed"; problem: RpcProblem } | { state: "ready"; list: GraphVersions };

/** A version whose name is typed: without an id the document as it is. */
interface Naming {
  readonly id: string | null;
  readonly title: string;
  readonly initial: NameAndNote | null;
}

export function VersionsPanel() {
  const { graphId, rev } = useGraphMeta();
  const [load, setLoad] = useState<Load>({ state: "loading" });

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
  return <Versions list={load.list} onList={(list) => setLoad({ state: "ready", list })} onRestored={read} />;
}

interface VersionsProps {
  readonly list: GraphVersions;
  onList(list: GraphVersions): void;
  onRestored(): void;
}

function Versions({ list, onList, onRestored }: VersionsProps) {
  const { graphId } = useGraphMeta();
  const [naming, setNaming] = useState<Naming | null>(null);
  const [search, setSearch] = useState("");
  const { history, readMore } = useHistory(graphId);
  const { versions, current, unread } = list;
  const names = namesOf(versions, history.commits);
  const isLong = versions.length + history.commits.length > SHORT;
  const sought = isLong ? search : "";
  const found = versions.filter((version) => isFound(sought, textsOf(version)));
  const foundCommits = history.commits.filter((commit) => isFound(sought, commitTexts(commit)));
  const name = async (chosen: NameAndNote | null) => {
    const named = naming && (await nameVersion(naming.id, chosen));
    if (!named) return;
    onList(named);
    setNaming(null);
  };
  const nameNow = () => {
    const same = versions.find(({ hash }) => hash === current);
    setNaming({ id: null, title: t("versions.nameNow"), initial: nameOf(same) });
  };
  return (
    <div className="h-full overflow-y-auto p-1.5">
      <div className="flex flex-wrap items-center gap-1.5 px-2 pb-1.5">
        <Button
          size="small"
          icon={<Tag size={13} aria-hidden />}
          onClick={nameNow}
          data-testid={versionsIds.nameNow}
        >
          {t("versions.nameNow")}
        </Button>
        {isLong && <SearchField search={search} onSearch={setSearch} />}
      </div>
      {naming !== null && (
        <NameDialog
          title={naming.title}
          initial={naming.initial}
          onSave={(chosen) => void name(chosen)}
          onClose={() => setNaming(null)}
        />
      )}
      {unread !== undefined && (
        <p className="px-2 pb-1 text-xs text-asking">{t("versions.unread", { why: unread })}</p>
      )}
      {versions.length === 0 ? (
        <EmptyState compact icon={<History size={20} />} title={t("forms.versions.none")}>
          {t("versions.noneHelp")}
        </EmptyState>
      ) : (
        <ul aria-label={t("forms.versions.list")} data-testid={formsIds.versions}>
          {found.map((version, index) => (
            <Version
              key={version.id}
              version={version}
              index={index}
              isCurrent={version.hash === current}
              onNaming={(title) => setNaming({ id: version.id, title, initial: nameOf(version) })}
              names={names}
              onRestored={onRestored}
            />
          ))}
        </ul>
      )}
      {isLong && found.length + foundCommits.length === 0 && (
        <EmptyState compact title={t("forms.command.none")} />
      )}
      <CommitList
        history={history}
        found={foundCommits}
        versions={names}
        readMore={readMore}
        onRestored={onRestored}
      />
    </div>
  );
}

/** Fewer versions are seen without a search. */
const SHORT = 8;

/** What people call versions and commits, to compare with. */
function namesOf(versions: readonly GraphVersionView[], commits: readonly CommitView[]): VersionName[] {
  return [
    ...versions.map(({ id, name, at }) => ({ id, label: name ?? momentText(at) })),
    ...commits.map((commit) => ({ id: commit.id, label: commitName(commit) })),
  ];
}

/** The name and note that a version has. */
function nameOf(version: GraphVersionView | undefined): NameAndNote | null {
  return version?.name === undefined ? null : { name: version.name, note: version.note ?? "" };
}

/** What the row of a version shows, with its whole note. */
function textsOf(version: GraphVersionView): string[] {
  const { name, note, at } = version;
  return [name ?? "", note ?? "", momentText(at), countsText(version), ranText(version)];
}

const countsText = ({ nodes, edges, isText }: GraphVersionView): string =>
  isText === true
    ? t("versions.isText")
    : listed([
        tn("forms.many.node", "forms.many.nodes", nodes),
        tn("forms.many.edge", "forms.many.edges", edges),
      ]);

const ranText = ({ threads }: GraphVersionView): string =>
  threads === 0 ? "" : tn("versions.ranOne", "versions.ran", threads);

function SearchField({ search, onSearch }: { search: string; onSearch(search: string): void }) {
  return (
    <TextField
      className="min-w-36 flex-1"
      value={search}
      onChange={onSearch}
      placeholder={t("versions.search")}
      aria-label={t("versions.search")}
      data-testid={versionsIds.search}
      prefix={<Search size={13} aria-hidden />}
      {...(search !== "" && {
        suffix: (
          <IconButton size="small" label={t("debug.clear")} onClick={() => onSearch("")}>
            <X size={13} aria-hidden />
          </IconButton>
        ),
      })}
    />
  );
}

interface VersionProps {
  readonly version: GraphVersionView;
  readonly index: number;
  readonly isCurrent: boolean;
  /** All versions, to compare with. */
  readonly names: readonly VersionName[];
  onNaming(title: string): void;
  onRestored(): void;
}

function Version({ version, index, isCurrent, names, onNaming, onRestored }: VersionProps) {
  const time = momentText(version.at);
  const naming = t("versions.nameLabel", { time });
  return (
    <VersionRow
      id={version.id}
      label={version.name ?? time}
      time={time}
      facts={<Facts version={version} index={index} />}
      badge={isCurrent && <Badge>{t("versions.current")}</Badge>}
      isCurrent={isCurrent}
      action={
        <IconButton
          size="small"
          label={naming}
          onClick={() => onNaming(naming)}
          data-testid={versionsIds.name(index)}
        >
          <Pencil size={13} aria-hidden />
        </IconButton>
      }
      versions={names}
      testId={formsIds.version(index)}
      onRestored={onRestored}
    >
      {version.threadId !== undefined && <Ran version={version} threadId={version.threadId} />}
    </VersionRow>
  );
}

function Facts({ version, index }: { version: GraphVersionView; index: number }) {
  return (
    <>
      <span className="text-2xs/[15px] text-text-3 tabular-nums">
        {version.name !== undefined && `${momentText(version.at)} · `}
        {countsText(version)}
      </span>
      {version.note !== undefined && (
        <span
          className="max-w-full truncate text-2xs/[15px] text-text-2"
          title={version.note}
          data-testid={versionsIds.note(index)}
        >
          {firstLine(version.note)}
        </span>
      )}
    </>
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
      {ranText(version)}
    </button>
  );
}
