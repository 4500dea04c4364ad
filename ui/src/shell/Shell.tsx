/** The window: title bar, the three uses, banners, dialogs. */
import { KeyRound, PanelBottomOpen, PanelLeftOpen, PanelRightOpen, Unplug } from "lucide-react";
import { useEffect, useState, type CSSProperties, type ReactNode } from "react";
import { Canvas } from "../canvas/Canvas";
import { Button } from "../components/Button";
import { EmptyState } from "../components/EmptyState";
import { unfitClass, useFitting } from "../components/overflow";
import { IconButton } from "../components/IconButton";
import { MoreMenu } from "../components/MoreMenu";
import { shownLevels, useNested } from "../debugger/model/nested";
import { useWaits } from "../canvas/waiting-problems";
import { useDiagnostics, useDocumentState } from "../document/store";
import { CommandPalette } from "../features/command-palette/CommandPalette";
import { FileDialogs } from "../features/files/FileDialogs";
import { Inspector } from "../features/inspector/Inspector";
import { LastRun } from "../features/node-test";
import { NodeSearch } from "../features/palette/NodeSearch";
import { Palette } from "../features/palette/Palette";
import { useConflicted, useGit } from "../features/git";
import { StartScreen } from "../features/start/StartScreen";
import { host, type Connection } from "../ipc/client";
import { shellIds, formsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { followComing } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { isFolded, PANEL_LIMITS, useSession, type PanelState, type Side, type Sized } from "../state/session";
import { useVersionOf } from "../state/shown-version";
import { Announcer } from "./Announcer";
import { useBoot } from "./boot";
import { GraphTabs } from "./GraphTabs";
import { NestedPath } from "./NestedPath";
import { Panel, type PanelTab } from "./Panel";
import { PanelBoundary } from "./PanelBoundary";
import { useRightFolded } from "./right-panel";
import { areRead, Later, readParts } from "./later";
import { PastFrame } from "./PastFrame";
import { Splitter } from "./Splitter";
import { VersionBar } from "./VersionBar";
import { TitleBar } from "./TitleBar";
import { cx } from "../components/cx";

export function Shell() {
  const boot = useBoot();
  useLaterParts(boot.state !== "starting");
  return (
    <div className="flex flex-col h-full bg-surface-0" data-testid={shellIds.shell}>
      <TitleBar />
      <GraphTabs />
      <ConnectionBanner />
      <main className="flex-1 min-h-0 flex flex-col">
        {boot.state === "starting" ? (
          <div className="m-auto text-text-3" role="status">
            {t("shell.starting")}
          </div>
        ) : boot.state === "failed" ? (
          <EmptyState
            tone="failed"
            title={boot.problem.message}
            action={<Button onClick={boot.retry}>{t("shell.panel.retry")}</Button>}
          >
            {boot.problem.remedy}
          </EmptyState>
        ) : (
          <Uses />
        )}
      </main>
      <Announcer />
      <PanelBoundary name="dialogs">
        <CommandPalette />
        <FileDialogs />
        <Later part="Dialogs" until={null} />
      </PanelBoundary>
    </div>
  );
}

/** Reads what the start did without, a moment after it. */
function useLaterParts(started: boolean): void {
  // The command of a key or a button may come with a dialog that is not there yet.
  useEffect(() => followComing(() => (areRead() ? null : readParts())), []);
  useEffect(() => {
    if (!started) return undefined;
    // A panel that is shown says what went wrong; the next one asks again.
    const rest = setTimeout(() => void readParts().catch(console.error), REST_MS);
    return () => clearTimeout(rest);
  }, [started]);
}

/** Until then the window draws what a person looks at first. */
const REST_MS = 300;

function Uses() {
  const use = useSession((state) => state.use);
  const graphId = useSession((state) => state.graphId);
  if (use === "approve")
    return (
      <PanelBoundary name="InboxPage">
        <Later part="InboxPage" />
      </PanelBoundary>
    );
  if (graphId === null)
    return (
      <PanelBoundary name="StartScreen">
        <StartScreen />
      </PanelBoundary>
    );
  return <GraphUse />;
}

function ProblemCount() {
  const problems = useDiagnostics();
  const waits = useWaits();
  if (problems.length === 0) return null;
  const due = problems.filter((problem) => !waits(problem));
  const failed = due.some((problem) => problem.severity === "error");
  return (
    <span
      className="min-w-4 px-1 rounded-lg text-2xs font-semibold text-center data-[tone=hint]:bg-surface-4 data-[tone=hint]:text-text-2 data-[tone=failed]:bg-failed-soft data-[tone=failed]:text-failed data-[tone=asking]:bg-asking-soft data-[tone=asking]:text-asking tabular-nums"
      data-tone={failed ? "failed" : due.length === 0 ? "hint" : "asking"}
    >
      {problems.length}
    </span>
  );
}

const findTab = (): PanelTab => ({
  id: "find",
  label: t("shell.tab.find"),
  content: <Later part="FindPanel" />,
});

const changesTab = (): PanelTab => ({
  id: "changes",
  label: t("shell.tab.changes"),
  content: <Later part="ChangesPanel" />,
});

function problemsTab(): PanelTab {
  return {
    id: "problems",
    label: t("shell.tab.problems"),
    badge: <ProblemCount />,
    content: <Later part="ProblemsPanel" />,
  };
}

/** Design and debug share one workspace, so that the canvas stays what and where it is when the use changes. */
function GraphUse() {
  const use = useSession((state) => state.use);
  const threadId = useSession((state) => state.cursor.threadId);
  const compareWith = useSession((state) => state.compareWith);
  const rightFolded = useSession((state) => isFolded(state, "right"));
  const inRepository = useGit((git) => git.view !== null);
  const isText = useDocumentState((state) => state.text !== null);
  const seen = useDocumentState((state) => state.seen !== null);
  const settings: PanelTab = {
    id: "inspector",
    label: t("shell.tab.inspector"),
    content: <Inspector LastRun={LastRun} />,
  };
  const versions: PanelTab = {
    id: "versions",
    label: t("shell.tab.versions"),
    content: <Later part="VersionsPanel" />,
  };
  // There is no graph to add to and to look through.
  if (use === "design" && isText)
    return <Workspace left={NO_TABS} right={[versions]} bottom={[problemsTab(), findTab()]} />;
  if (use === "design") {
    return (
      <Workspace
        left={[
          { id: "palette", label: t("shell.tab.palette"), content: <Palette /> },
          { id: "outline", label: t("shell.tab.outline"), content: <Later part="OutlinePanel" /> },
          { id: "keys", label: t("shell.tab.keys"), content: <Later part="StatePanel" /> },
        ]}
        right={[settings, versions]}
        bottom={[problemsTab(), findTab(), ...(inRepository ? [changesTab()] : [])]}
      />
    );
  }
  const moment: PanelTab =
    threadId === null
      ? { id: "run", label: t("shell.tab.run"), content: <Later part="RunPanel" /> }
      : { id: "state", label: t("shell.tab.state"), content: <Moment /> };
  const compare: PanelTab = {
    id: "compare",
    label: t("shell.tab.compare"),
    content: <Later part="ComparePanel" />,
  };
  return (
    <Workspace
      over={
        rightFolded && (
          <PanelBoundary name="AnswerBanner">
            <Later part="AnswerBanner" until={null} />
          </PanelBoundary>
        )
      }
      left={[{ id: "threads", label: t("shell.tab.threads"), content: <Later part="ThreadsPanel" /> }]}
      // What the nodes of a graph do that was seen in threads is not known: there is nothing to set.
      right={seen ? [moment] : [moment, settings]}
      bottom={[
        { id: "timeline", label: t("shell.tab.timeline"), content: <Later part="TimelinePanel" /> },
        { id: "forks", label: t("shell.tab.forks"), content: <Later part="ForksPanel" /> },
        { id: "trace", label: t("shell.tab.trace"), content: <Later part="TracePanel" /> },
        { id: "what-if", label: t("shell.tab.whatIf"), content: <Later part="WhatIfPanel" /> },
        { id: "stream", label: t("shell.tab.stream"), content: <Later part="StreamPanel" /> },
        { id: "messages", label: t("shell.tab.messages"), content: <Later part="MessagesPanel" /> },
        ...(compareWith === null ? [] : [compare]),
        problemsTab(),
        findTab(),
      ]}
    />
  );
}

/**
 * The selected moment: what it asks, then its state. Beside the canvas, so that the graph stays in view. Where the window is
 * not high both scroll as one: there is no room for a part of each.
 */
function Moment() {
  return (
    <div className="flex h-full min-h-0 flex-col short:h-auto short:min-h-full short:shrink-0">
      <div className="min-h-0 flex-1 short:flex short:flex-[1_0_auto] short:flex-col">
        <Later
          part="StateInspector"
          asked={
            <PanelBoundary name="AnswerBanner">
              <Later part="AnswerBanner" until={null} docked />
            </PanelBoundary>
          }
        />
      </div>
    </div>
  );
}

const NO_TABS: readonly PanelTab[] = [];

interface WorkspaceProps {
  readonly left: readonly PanelTab[];
  readonly right: readonly PanelTab[];
  readonly bottom: readonly PanelTab[];
  readonly over?: ReactNode;
}

/** The size that was chosen; without one the panel has that of its style. */
const sizeOf = (side: Sized, { size }: PanelState): string | undefined =>
  size === PANEL_LIMITS[side].initial ? undefined : `${size}px`;

/** The canvas with panels on three sides. */
function Workspace({ left, right, bottom, over }: WorkspaceProps) {
  const panels = useSession((state) => state.panels);
  const leftFolded = useSession((state) => isFolded(state, "left"));
  const rightFolded = useRightFolded();
  const bottomFolded = useSession((state) => isFolded(state, "bottom"));
  const style = {
    "--left": sizeOf("left", panels.left),
    "--right": sizeOf("right", panels.right),
    "--bottom": sizeOf("bottom", panels.bottom),
    "--beside": sizeOf("beside", panels.beside),
  } as CSSProperties;
  return (
    <div className="flex-1 min-h-0 flex" style={style}>
      {!leftFolded && left.length > 0 && (
        <>
          <Panel side="left" tabs={left} />
          <Splitter side="left" />
        </>
      )}
      <div className="relative flex-1 min-w-0 flex flex-col">
        <PanelBoundary name="Reader">
          <Later part="Reader" until={null} />
        </PanelBoundary>
        <PastFrame>
          <PanelBoundary name="canvas">
            <GraphOrNested />
          </PanelBoundary>
          <NestedPath />
          <Later part="HeatLegend" until={null} />
          {over !== undefined && (
            <div className="absolute top-2 right-4 bottom-4 left-4 z-12 flex items-end justify-center pointer-events-none *:max-h-full *:overflow-auto *:pointer-events-auto">
              {over}
            </div>
          )}
          {left.length > 0 && <Unfold side="left" />}
          <Unfold side="right" />
        </PastFrame>
        {bottomFolded ? (
          <BottomBar tabs={bottom} />
        ) : (
          <>
            <Splitter side="bottom" />
            <Panel side="bottom" tabs={bottom} />
          </>
        )}
      </div>
      {!rightFolded && (
        <>
          <Splitter side="right" />
          <Panel side="right" tabs={right} />
        </>
      )}
    </div>
  );
}

/** The graph, or the nested one that the run has been followed into. */
function GraphOrNested() {
  const nested = useNested();
  const cursor = useSession((session) => session.cursor);
  const use = useSession((session) => session.use);
  const graphId = useSession((session) => session.graphId);
  const version = useVersionOf(graphId);
  const levels = shownLevels(nested, { cursor, use });
  const conflicted = useConflicted();
  const isText = useDocumentState((state) => state.text !== null);
  if (conflicted) return <Later part="ConflictView" />;
  if (version !== null)
    return (
      <>
        <Later part="VersionCanvas" version={version} />
        <VersionBar version={version} />
      </>
    );
  if (isText) return <Later part="FileText" key={graphId} />;
  return levels.length > 0 && cursor.threadId !== null ? (
    <Later part="NestedCanvas" threadId={cursor.threadId} path={levels} />
  ) : (
    <Canvas NodeSearch={NodeSearch} />
  );
}

const UNFOLD_ICONS = { left: PanelLeftOpen, right: PanelRightOpen, bottom: PanelBottomOpen };

function Unfold({ side }: { side: Side }) {
  const now = useSession((state) => isFolded(state, side));
  const right = useRightFolded();
  const folded = side === "right" ? right : now;
  const setPanel = useSession((state) => state.setPanel);
  if (!folded) return null;
  const Icon = UNFOLD_ICONS[side];
  return (
    <div className={cx("absolute top-2 z-11", side === "left" && "left-2", side === "right" && "right-2")}>
      <IconButton
        label={t(`shell.unfold.${side}`)}
        shortcut={shortcutOf(`panel.${side}`)}
        variant="secondary"
        onClick={() => setPanel(side, { folded: false })}
        data-testid={shellIds.unfoldPanel(side)}
      >
        <Icon size={16} aria-hidden />
      </IconButton>
    </div>
  );
}

/** The folded bottom panel: its tabs in one row, each opening it. */
function BottomBar({ tabs }: { tabs: readonly PanelTab[] }) {
  const showTab = useSession((state) => state.showTab);
  const ids = tabs.map(({ id }) => id);
  const fitting = useFitting(ids, null, 2);
  const more = tabs.filter(({ id }) => fitting.hidden.has(id));
  return (
    <footer
      className="flex-none h-7 px-1.5 border-t border-line bg-surface-1"
      data-testid={shellIds.bottomBar}
    >
      <div ref={fitting.ref} className="relative flex h-full items-center gap-0.5 overflow-hidden">
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            className={cx(
              "inline-flex items-center gap-1.5 h-5.5 pointer-coarse:h-6 px-2 rounded-sm text-xs/inherit text-text-2 whitespace-nowrap hover:bg-surface-3 hover:text-text",
              fitting.hidden.has(tab.id) && unfitClass,
            )}
            {...(fitting.hidden.has(tab.id) && { "aria-hidden": true, tabIndex: -1 })}
            onClick={() => showTab("bottom", tab.id)}
            data-fit={tab.id}
            data-testid={formsIds.tab(tab.id)}
          >
            {tab.label}
            {tab.badge}
          </button>
        ))}
        {more.length > 0 && (
          <MoreMenu items={more} onChoose={(id) => showTab("bottom", id)} chosen={() => null} />
        )}
      </div>
    </footer>
  );
}

/** Says that the host is away or does not let us in, once it has been there. */
function ConnectionBanner() {
  const [connection, setConnection] = useState<Connection>("open");
  useEffect(() => host.watchConnection(setConnection), []);
  if (connection !== "lost" && connection !== "refused") return null;
  const Icon = connection === "lost" ? Unplug : KeyRound;
  return (
    <div
      className="flex-none flex gap-1.5 justify-center py-1.5 px-3 bg-asking-soft text-text text-xs"
      role="status"
      data-connection={connection}
      data-testid={shellIds.connectionLost}
    >
      <Icon size={14} aria-hidden />
      <p>
        <strong>{t(`shell.connection.${connection}`)}</strong> {t(`shell.connection.${connection}Detail`)}
      </p>
    </div>
  );
}
