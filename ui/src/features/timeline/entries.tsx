/** What can be done with a checkpoint, and what it is called. */
import {
  ArrowRightLeft,
  ArrowRightToLine,
  Bookmark,
  BookmarkMinus,
  Copy,
  FlaskConical,
  Link,
  Pencil,
  RotateCcw,
  SkipForward,
  StepForward,
} from "lucide-react";
import type { MenuEntry } from "../../components/Menu";
import { copyText } from "../../debugger/parts/CopyButton";
import { nodeList } from "../../debugger/parts/format";
import { offCannotEdit, offCannotRun, offOnlyRead } from "../../debugger/model/only-read";
import { useRuns } from "../../debugger/model/runStore";
import { askMakeTest } from "../../debugger/state/asked";
import { replay, runToCheckpoint } from "../../debugger/run/actions";
import { skipStep } from "../../debugger/run/update-state";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { rpc } from "../../ipc/client";
import { t, type TextKey } from "../../lib/texts";
import { linkTo } from "../../state/moment-history";
import { useSession } from "../../state/session";
import { askBookmark } from "../../state/storage";
import { showProblem } from "../../state/toasts";
import { askWhatIf } from "../../state/what-if";

const SOURCE: Record<string, TextKey> = {
  input: "debug.source.input",
  loop: "debug.source.loop",
  update: "debug.source.update",
  fork: "debug.source.fork",
};

export const sourceText = ({ source }: CheckpointView): string => t(SOURCE[source] ?? "debug.source.loop");

/** What made a checkpoint, in few words. */
export function whatHappened(checkpoint: CheckpointView, ran: readonly string[]): string {
  const what = withoutPerson(checkpoint, ran);
  return checkpoint.by === undefined ? what : t("debug.byPerson", { what, name: checkpoint.by });
}

function withoutPerson(checkpoint: CheckpointView, ran: readonly string[]): string {
  if (checkpoint.source === "update" && checkpoint.updated.length === 0)
    return t("debug.skipped", { node: checkpoint.asNode ?? "?" });
  if (checkpoint.source === "update") return t("debug.editedAs", { node: checkpoint.asNode ?? "?" });
  return checkpoint.source === "loop" && ran.length > 0 ? nodeList(ran) : sourceText(checkpoint);
}

export function checkpointEntries(
  threadId: string,
  checkpoint: CheckpointView,
  isHead: boolean,
): MenuEntry[] {
  const off = offOnlyRead();
  const [offRun, offEdit] = [offCannotRun(), offCannotEdit()];
  const compare = () => useSession.getState().compare({ threadId, checkpointId: checkpoint.id });
  return [
    {
      id: "replay",
      label: t("debug.timeline.replay"),
      icon: <RotateCcw size={14} aria-hidden />,
      disabled: checkpoint.next.length === 0,
      off: offRun,
      run: () => void replay(threadId, checkpoint.id),
    },
    {
      id: "replay-step",
      label: t("debug.timeline.replayStep"),
      icon: <StepForward size={14} aria-hidden />,
      disabled: checkpoint.next.length === 0,
      off: offRun,
      run: () => void replay(threadId, checkpoint.id, { step: "over" }),
    },
    {
      id: "run-to",
      label: t("debug.timeline.runTo"),
      icon: <ArrowRightToLine size={14} aria-hidden />,
      disabled: isHead || checkpoint.next.length === 0,
      off,
      run: () => void runToCheckpoint(checkpoint),
    },
    {
      id: "skip-step",
      label: t("debug.timeline.skipStep", { nodes: nodeList(checkpoint.next) }),
      icon: <SkipForward size={14} aria-hidden />,
      disabled: checkpoint.next.length === 0,
      off: offEdit,
      run: () => void skipStep({ threadId, checkpointId: checkpoint.id }),
    },
    {
      id: "what-if",
      label: t("whatIf.open"),
      icon: <FlaskConical size={14} aria-hidden />,
      off,
      run: () => askWhatIf({ threadId, checkpointId: isHead ? null : checkpoint.id }),
    },
    {
      id: "test",
      label: t("tests.make"),
      icon: <FlaskConical size={14} aria-hidden />,
      // A test ends where the thread does, or did on a branch.
      disabled: !isHead && checkpoint.next.length > 0,
      off,
      run: () =>
        askMakeTest({
          threadId,
          title: useRuns.getState().threads.get(threadId)?.title ?? threadId,
          ...(!isHead && { checkpointId: checkpoint.id }),
        }),
    },
    {
      id: "edit",
      label: t("debug.timeline.edit"),
      icon: <Pencil size={14} aria-hidden />,
      off: offEdit,
      run: () => {
        const session = useSession.getState();
        session.setCursor({ checkpointId: isHead ? null : checkpoint.id });
        session.showTab("right", "state");
      },
    },
    {
      id: "bookmark",
      label: t(checkpoint.bookmark === undefined ? "storage.bookmark" : "storage.bookmark.edit"),
      icon: <Bookmark size={14} aria-hidden />,
      run: () =>
        askBookmark({
          threadId,
          checkpointId: checkpoint.id,
          name: checkpoint.bookmark ?? "",
          note: checkpoint.bookmarkNote ?? "",
        }),
    },
    ...(checkpoint.bookmark === undefined
      ? []
      : [
          {
            id: "bookmark-remove",
            label: t("storage.bookmark.remove"),
            icon: <BookmarkMinus size={14} aria-hidden />,
            run: () =>
              void rpc("thread.bookmark", { threadId, checkpointId: checkpoint.id }).catch(showProblem),
          },
        ]),
    {
      id: "compare",
      label: t("debug.timeline.compareNow"),
      icon: <ArrowRightLeft size={14} aria-hidden />,
      disabled: isHead,
      run: () => {
        useSession.getState().setCursor({ checkpointId: null });
        compare();
      },
    },
    {
      id: "compare-with",
      label: t("debug.timeline.compareWith"),
      icon: <ArrowRightLeft size={14} aria-hidden />,
      run: () => compare(),
    },
    { id: "line", separator: true },
    {
      id: "copy",
      label: t("debug.timeline.copyId"),
      icon: <Copy size={14} aria-hidden />,
      run: () => void copyText(checkpoint.id),
    },
    {
      id: "copy-link",
      label: t("debug.timeline.copyLink"),
      icon: <Link size={14} aria-hidden />,
      run: () => void copyText(linkTo({ threadId, checkpointId: isHead ? null : checkpoint.id }) ?? ""),
    },
  ];
}
