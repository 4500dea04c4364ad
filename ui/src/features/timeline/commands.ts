/** Commands that move the cursor: history, visits of a node, writes of a key, links. */
import { copyText } from "../../debugger/parts/CopyButton";
import { useStateKey } from "../../debugger/state/selected-key";
import { useOnlyRead } from "../../debugger/model/only-read";
import { useRuns } from "../../debugger/model/runStore";
import { runToCheckpoint } from "../../debugger/run/actions";
import { chooseDetail, detailBy, detailOf, useChosenDetail } from "../../debugger/timeline/chosen-detail";
import { togglePlayback } from "../../debugger/timeline/playback";
import { firstMoment, momentAfter, visitOf, writeOf } from "../../debugger/timeline/walk";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { goMoment, linkTo, useMoments } from "../../state/moment-history";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";

const session = () => useSession.getState();
const inThread = () => session().cursor.threadId !== null && session().use === "debug";

/** The checkpoint of the past that is shown. */
function shownCheckpoint() {
  const { threadId, checkpointId } = session().cursor;
  if (!inThread() || threadId === null || checkpointId === null) return undefined;
  return useRuns
    .getState()
    .checkpoints.get(threadId)
    ?.list.find(({ id }) => id === checkpointId);
}

function go(checkpointId: string | null | undefined): void {
  if (checkpointId !== undefined) session().setCursor({ checkpointId });
}

/** Goes to the moment after a step; says so when the branch has no such step. */
export async function goToStep(step: number): Promise<void> {
  const found = await momentAfter(step);
  if (found === undefined) showToast({ tone: "info", text: t("debug.goto.none", { n: step }) });
  else go(found);
}

export function registerMomentCommands(): () => void {
  const group = t("debug.group");
  const visit = (by: -1 | 1) => () => {
    const [node] = session().selection.nodes;
    if (node !== undefined) go(visitOf(node, by));
  };
  const write = (by: -1 | 1) => () => {
    const { key } = useStateKey.getState();
    if (key !== null) go(writeOf(key, by));
  };
  const detail = (by: -1 | 1) => () => {
    const { threadId } = session().cursor;
    const count = useRuns.getState().checkpoints.get(threadId ?? "")?.list.length ?? 0;
    chooseDetail(detailBy(detailOf(useChosenDetail.getState().detail, count), by));
    session().showTab("bottom", "timeline");
  };
  const hasNode = () => inThread() && session().selection.nodes.length === 1;
  const hasKey = () => inThread() && useStateKey.getState().key !== null;
  return registerCommands([
    {
      id: "debug.back",
      group,
      title: t("debug.command.back"),
      run: () => void goMoment(-1),
      enabled: () => useMoments.getState().back.length > 0,
    },
    {
      id: "debug.forth",
      group,
      title: t("debug.command.forth"),
      run: () => void goMoment(1),
      enabled: () => useMoments.getState().forth.length > 0,
    },
    {
      id: "debug.copyLink",
      group,
      title: t("debug.command.copyLink"),
      run: () => {
        const link = linkTo(session().cursor);
        if (link !== null) void copyText(link);
      },
      enabled: inThread,
    },
    {
      id: "debug.previousVisit",
      group,
      title: t("debug.command.previousVisit"),
      run: visit(-1),
      enabled: hasNode,
    },
    { id: "debug.nextVisit", group, title: t("debug.command.nextVisit"), run: visit(1), enabled: hasNode },
    {
      id: "debug.previousWrite",
      group,
      title: t("debug.command.previousWrite"),
      run: write(-1),
      enabled: hasKey,
    },
    { id: "debug.nextWrite", group, title: t("debug.command.nextWrite"), run: write(1), enabled: hasKey },
    {
      id: "debug.runToCheckpoint",
      group,
      title: t("debug.command.runToCheckpoint"),
      run: () => {
        const shown = shownCheckpoint();
        if (shown) void runToCheckpoint(shown);
      },
      enabled: () => !useOnlyRead.getState().onlyRead && (shownCheckpoint()?.next.length ?? 0) > 0,
    },
    {
      id: "debug.play",
      group,
      title: t("playback.playTitle"),
      run: togglePlayback,
      enabled: inThread,
    },
    {
      id: "debug.moreDetail",
      group,
      title: t("debug.command.moreDetail"),
      run: detail(1),
      enabled: inThread,
    },
    {
      id: "debug.lessDetail",
      group,
      title: t("debug.command.lessDetail"),
      run: detail(-1),
      enabled: inThread,
    },
    {
      id: "debug.firstMoment",
      group,
      title: t("debug.command.first"),
      run: () => void firstMoment().then(go),
      enabled: inThread,
    },
    {
      id: "debug.lastMoment",
      group,
      title: t("debug.command.last"),
      hidden: true,
      run: () => go(null),
      enabled: inThread,
    },
  ]);
}
