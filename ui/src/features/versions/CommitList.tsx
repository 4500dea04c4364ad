/** Commits that changed the graph's file: versions to look at, compare and restore, below those that the app keeps. */
import { GitCommitHorizontal } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { PanelSection } from "../../components/PanelSection";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { CommitView } from "../../ipc/bindings/CommitView";
import { momentText } from "../../lib/intl";
import { versionsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import type { VersionName } from "../../state/shown-version";
import type { History } from "./history";
import { VersionRow } from "./VersionRow";

interface Props {
  readonly history: History;
  /** Those of the history that a search found. */
  readonly found: readonly CommitView[];
  /** All versions, to compare with. */
  readonly versions: readonly VersionName[];
  readMore(): Promise<void>;
  onRestored(): void;
}

export function CommitList({ history, found, versions, readMore, onRestored }: Props) {
  const { commits, more, problem } = history;
  const [open, setOpen] = useState(true);
  const [busy, setBusy] = useState(false);
  if (commits.length === 0 && problem === null) return null;
  const next = async () => {
    setBusy(true);
    await readMore();
    setBusy(false);
  };
  const newest = commits[0]?.path;
  return (
    <PanelSection title={t("versions.git")} count={0} open={open} onOpen={setOpen} action={null}>
      <ul aria-label={t("versions.git")} data-testid={versionsIds.commits}>
        {found.map((commit, index) => (
          <VersionRow
            key={commit.id}
            id={commit.id}
            label={commitName(commit)}
            time={momentText(commit.at)}
            title={commit.path === newest ? commit.subject : `${commit.subject}\n${commit.path}`}
            facts={<Facts commit={commit} isMoved={commit.path !== newest} />}
            versions={versions}
            testId={versionsIds.commit(index)}
            onRestored={onRestored}
          />
        ))}
      </ul>
      {problem !== null && <ProblemNote problem={problem} onRetry={() => void next()} />}
      {more && (
        <Button
          className="mx-2 my-1"
          size="small"
          variant="ghost"
          busy={busy}
          onClick={() => void next()}
          data-testid={versionsIds.moreCommits}
        >
          {t("debug.provenance.more")}
        </Button>
      )}
    </PanelSection>
  );
}

/** What people call a commit: its subject, or its number when it has none. */
export const commitName = ({ subject, commit }: CommitView): string =>
  subject === "" ? commit.slice(0, 8) : subject;

/** What the row of a commit shows, with the whole of its number. */
export const commitTexts = ({ commit, subject, author, at, path }: CommitView): string[] => [
  commit,
  subject,
  author,
  momentText(at),
  path,
];

function Facts({ commit, isMoved }: { commit: CommitView; isMoved: boolean }) {
  return (
    <>
      <span className="flex max-w-full items-center gap-1 text-2xs/[15px] text-text-3 tabular-nums">
        <GitCommitHorizontal size={11} className="shrink-0" aria-hidden />
        <code className="shrink-0">{commit.commit.slice(0, 8)}</code>
        <span className="truncate">{`· ${commit.author} · ${momentText(commit.at)}`}</span>
      </span>
      {isMoved && <code className="max-w-full truncate text-2xs/[15px] text-text-3">{commit.path}</code>}
    </>
  );
}
