/** Commands for what the panels do by buttons of their own, so that all of it is found by name. */
import { BREAKPOINT_PLACES } from "../features/breakpoints";
import { restoreVersion } from "../features/versions";
import { useInbox } from "../debugger/model/inbox";
import {
  DELEGATE,
  DELEGATIONS,
  focusAnswer,
  heldLast,
  SNOOZE,
  SNOOZES,
  takeBack,
  WITHDRAW,
} from "../debugger/run/answering";
import { addBreakpoint } from "../debugger/run/breakpoint-dialog";
import { newThread } from "../debugger/run/run-form";
import { cannotRun, useOnlyRead } from "../debugger/model/only-read";
import { importThread } from "../debugger/run/thread-files";
import { streamLog } from "../debugger/model/runStore";
import { addStateKey } from "../features/state-schema";
import { doc } from "../document/store";
import { nodeOf, NOTE } from "../document/types";
import { t } from "../lib/texts";
import { registerCommands } from "../state/commands";
import { askForTest } from "../state/node-test";
import { swapCompared, useSession } from "../state/session";
import { setComparing, shownVersion, showVersion } from "../state/shown-version";

const session = () => useSession.getState();
const hasGraph = () => session().graphId !== null;
const isOwn = () => hasGraph() && !useOnlyRead.getState().onlyRead;
const canRun = () => hasGraph() && !cannotRun(useOnlyRead.getState());
const inDebug = () => hasGraph() && session().use === "debug";
const isComparing = () => inDebug() && session().compareWith !== null;

/** A question of the thread that is shown. */
const asksHere = () => {
  const { cursor, use } = session();
  return (
    use !== "approve" && useInbox.getState().ofThread.some(({ threadId }) => threadId === cursor.threadId)
  );
};
const questionWaits = () => asksHere() || useInbox.getState().waiting > 0;

/** Goes to the question of the thread that is shown, or else to all that wait. */
function answerWaiting(): void {
  if (asksHere()) focusAnswer();
  else session().setUse("approve");
}

/** The one node that is selected and runs. */
function testable(): string | undefined {
  const { use, selection } = session();
  const [name, ...others] = selection.nodes;
  if (use !== "design" || name === undefined || others.length > 0 || !doc.has(`node:${name}`))
    return undefined;
  return nodeOf(doc.get(`node:${name}`)).kind === NOTE ? undefined : name;
}

export function registerPanelCommands(): () => void {
  const edit = t("shell.group.edit");
  const file = t("shell.group.file");
  const debug = t("debug.group");
  return registerCommands([
    {
      id: "state.addKey",
      title: t("forms.state.add"),
      group: edit,
      enabled: hasGraph,
      run: () => {
        session().setUse("design");
        session().showTab("left", "keys", "design");
        addStateKey();
      },
    },
    {
      id: "node.test",
      title: t("debug.test"),
      group: edit,
      enabled: () => testable() !== undefined,
      run: () => askForTest(testable() ?? ""),
    },
    {
      id: "run.answer",
      title: t("debug.command.answer"),
      group: debug,
      enabled: questionWaits,
      run: answerWaiting,
    },
    {
      id: "run.takeBack",
      title: t("debug.command.takeBack"),
      group: debug,
      enabled: () => heldLast().length > 0,
      run: () => void takeBack(heldLast()),
    },
    ...SNOOZES.map((until) => ({
      id: `run.snooze.${until}`,
      title: t(`debug.snooze.${until}`),
      group: debug,
      enabled: () => session().use === "approve" && useInbox.getState().questions.length > 0,
      run: () => window.dispatchEvent(new CustomEvent(SNOOZE, { detail: until })),
    })),
    ...DELEGATIONS.map((how) => ({
      id: `run.hand.${how}`,
      title: t(`debug.hand.${how}`),
      group: debug,
      enabled: () => session().use === "approve" && useInbox.getState().questions.length > 0,
      run: () => window.dispatchEvent(new CustomEvent(DELEGATE, { detail: how })),
    })),
    {
      id: "run.withdraw",
      title: t("debug.command.withdraw"),
      group: debug,
      enabled: () => questionWaits() && !useOnlyRead.getState().onlyRead,
      run: () => {
        answerWaiting();
        // The menu of the question is there by then.
        setTimeout(() => window.dispatchEvent(new Event(WITHDRAW)), 0);
      },
    },
    { id: "debug.newThread", title: t("debug.threads.new"), group: debug, enabled: canRun, run: newThread },
    {
      id: "debug.importThread",
      title: t("storage.thread.import"),
      group: debug,
      enabled: isOwn,
      run: () => void importThread(),
    },
    ...BREAKPOINT_PLACES.map((place) => ({
      id: `breakpoints.add.${place.when}`,
      title: t("forms.command.under", {
        heading: t("breakpoints.add"),
        label: t(`breakpoints.add.${place.when}`),
      }),
      group: debug,
      // An attached program is stopped at nodes, and when a condition becomes true.
      enabled: place.when === "watch" ? canRun : isOwn,
      run: () => addBreakpoint(place),
    })),
    {
      id: "compare.swap",
      title: t("debug.compare.swap"),
      group: debug,
      enabled: isComparing,
      run: swapCompared,
    },
    {
      id: "compare.close",
      title: t("debug.compare.close"),
      group: debug,
      enabled: isComparing,
      run: () => session().setCompareWith(null),
    },
    {
      id: "stream.clear",
      title: t("debug.stream.clear"),
      group: debug,
      enabled: () => inDebug() && session().cursor.threadId !== null,
      run: () => streamLog.clear(session().cursor.threadId ?? ""),
    },
    {
      id: "version.compare",
      title: t("versions.compareCommand"),
      group: file,
      enabled: () => shownVersion() !== null,
      run: () => setComparing(shownVersion()?.compare !== true),
    },
    {
      id: "version.restore",
      title: t("versions.restoreCommand"),
      group: file,
      enabled: () => shownVersion() !== null,
      run: () => {
        const version = shownVersion();
        if (version) void restoreVersion(version.id, version.label);
      },
    },
    {
      id: "version.current",
      title: t("versions.showCurrent"),
      group: file,
      enabled: () => shownVersion() !== null,
      run: () => showVersion(null),
    },
  ]);
}
