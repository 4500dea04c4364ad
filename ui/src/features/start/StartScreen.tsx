/** What the window shows without a graph. A first start leads into an example; later ones to where a person was. */
import { ArrowRight, ChartColumn, Database, FileX, FolderOpen, Inbox, Plus, Workflow } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Kbd } from "../../components/Kbd";
import { useInbox } from "../../debugger/model/inbox";
import { readOnlyRead, useOnlyRead } from "../../debugger/model/only-read";
import { RunningMark } from "../../debugger/run/RunningMark";
import { openPlace } from "../../debugger/run/seen";
import { StoppedMark } from "../../debugger/run/StoppedMark";
import { isBlock } from "../../document/block-files";
import { openGraph } from "../../document/open-graph";
import type { Example } from "../../ipc/bindings/Example";
import type { Recent } from "../../ipc/bindings/Recent";
import { rpc } from "../../ipc/client";
import { ago } from "../../lib/intl";
import { formsIds, overviewIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import { MiniGraph } from "../../canvas/MiniGraph";

export function StartScreen() {
  const appInfo = useSession((state) => state.appInfo);
  const waiting = useInbox((inbox) => inbox.waiting);
  const [busy, setBusy] = useState<string | null>(null);

  useEffect(() => {
    void readOnlyRead();
    // What was opened, moved or deleted meanwhile is known to the host only.
    rpc("app.info", {}).then(
      (info) => useSession.getState().setAppInfo(info),
      () => {
        // The window already has what it was started with.
      },
    );
  }, []);

  if (appInfo === null) return null;
  const recents = appInfo.recents.filter(({ path }) => !isBlock(path));
  const first = !appInfo.settings.welcomed && appInfo.recents.length === 0;
  const open = (id: string, request: Promise<void>) => {
    setBusy(id);
    request
      .then(() => {
        if (!appInfo.settings.welcomed) useSession.getState().setSettings({ welcomed: true });
      }, showProblem)
      .finally(() => setBusy(null));
  };
  const examples = (
    <Examples
      examples={appInfo.examples}
      busy={busy}
      lead={first}
      onOpen={(example) => open(example.id, rpc("graph.openExample", { id: example.id }).then(openGraph))}
    />
  );

  return (
    <div
      className="h-full overflow-y-auto bg-surface-1 [&_h2]:text-xs [&_h2]:font-semibold [&_h2]:text-text-2 [&_h2]:mb-2.5"
      data-testid={formsIds.startScreen}
    >
      <div className="flex flex-col gap-7 max-w-240 mx-auto pt-12 px-8 pb-8">
        <header className="flex items-end justify-between gap-6 flex-wrap [&_h1]:text-lg [&_h1]:font-semibold [&_p]:max-w-[62ch] [&_p]:text-text-2 [&_p]:text-pretty">
          <div>
            <h1>{first ? t("forms.start.welcome") : t("forms.start.title")}</h1>
            <p>{first ? t("forms.start.welcomeText") : t("forms.start.text")}</p>
          </div>
          <div className="flex gap-2">
            {!first && (
              <Button
                variant="ghost"
                icon={<ChartColumn size={15} aria-hidden />}
                onClick={() => runCommand("overview.open")}
                data-testid={overviewIds.open}
              >
                {t("overview.title")}
              </Button>
            )}
            <Button
              icon={<FolderOpen size={15} aria-hidden />}
              onClick={() => runCommand("graph.open")}
              data-testid={formsIds.startOpen}
            >
              {t("forms.start.open")}
            </Button>
            <Button
              variant={first ? "secondary" : "primary"}
              icon={<Plus size={15} aria-hidden />}
              onClick={() => runCommand("graph.new")}
              data-testid={formsIds.startNew}
            >
              {t("forms.start.new")}
            </Button>
          </div>
        </header>

        <LangGraphRow />

        {waiting > 0 && (
          <button
            type="button"
            className="flex items-center gap-2.5 py-2.5 px-3.5 rounded-lg bg-asking-soft text-asking font-medium text-left hover:outline-1 hover:outline-asking"
            onClick={() => useSession.getState().setUse("approve")}
            data-testid={formsIds.startWaiting}
          >
            <Inbox size={16} aria-hidden />
            <span>{tn("forms.start.waiting.one", "forms.start.waiting.many", waiting)}</span>
            <span className="inline-flex items-center gap-1 ml-auto">
              {t("forms.start.answer")} <ArrowRight size={14} aria-hidden />
            </span>
          </button>
        )}

        {first && examples}
        {recents.length > 0 && (
          <section aria-labelledby="start-recents">
            <h2 id="start-recents">{t("forms.start.recent")}</h2>
            <ul className="flex flex-col border border-line rounded-lg bg-surface-2 overflow-hidden [&_li+li]:border-t [&_li+li]:border-t-line">
              {recents.slice(0, 8).map((recent, index) => (
                <RecentRow
                  key={recent.path}
                  recent={recent}
                  index={index}
                  busy={busy === recent.path}
                  onOpen={() => open(recent.path, openPlace(recent.path))}
                />
              ))}
            </ul>
          </section>
        )}
        {!first && examples}
        <footer className="flex items-center flex-wrap gap-1.5 text-xs/inherit text-text-3">
          <span>{t("forms.start.helpPalette")}</span> <Kbd keys={shortcutOf("palette.open")} />
          <span className="start-help-dot" aria-hidden>
            ·
          </span>
          <span>{t("forms.start.helpOffline")}</span>
        </footer>
      </div>
    </div>
  );
}

/** The way in for who comes with a LangGraph program: to its database, or to the one that is open. */
function LangGraphRow() {
  const database = useOnlyRead((store) => (store.onlyRead ? store.database : null));
  return (
    <div className="flex flex-wrap items-stretch rounded-lg border border-line bg-surface-2">
      <button
        type="button"
        className="flex min-w-0 flex-1 items-center gap-2.5 rounded-lg py-2.5 px-3.5 text-left hover:bg-surface-3"
        onClick={() => runCommand(database === null ? "graph.open" : "graph.seen")}
        data-testid={formsIds.startSeen}
      >
        <Database size={16} className="shrink-0 text-text-2" aria-hidden />
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">
            {database === null ? t("seen.start") : t("seen.startNow", { database })}
          </span>
          <span className="text-xs/inherit text-text-2">{t("seen.startHelp")}</span>
        </span>
        <span className="ml-auto inline-flex shrink-0 items-center gap-1">
          {database === null && t("seen.startFile")}
          <ArrowRight size={14} aria-hidden />
        </span>
      </button>
      <button
        type="button"
        className="inline-flex shrink-0 items-center gap-1 rounded-lg border-l border-line px-3.5 py-2.5 hover:bg-surface-3"
        aria-label={t("seen.address")}
        onClick={() => runCommand("graph.openAddress")}
        data-testid={formsIds.startAddress}
      >
        {t("seen.startServer")}
        <ArrowRight size={14} aria-hidden />
      </button>
    </div>
  );
}

function Examples({
  examples,
  busy,
  lead,
  onOpen,
}: {
  examples: readonly Example[];
  busy: string | null;
  lead: boolean;
  onOpen(example: Example): void;
}) {
  return (
    <section aria-labelledby="start-examples">
      <h2 id="start-examples">{lead ? t("forms.start.pickExample") : t("forms.start.examples")}</h2>
      {examples.length === 0 ? (
        <EmptyState compact icon={<Workflow size={20} />} title={t("forms.start.noExamples")}>
          {t("forms.start.noExamplesHelp")}
        </EmptyState>
      ) : (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(264px,1fr))] gap-4">
          {examples.map((example) => (
            <li key={example.id}>
              <button
                type="button"
                className="flex flex-col border border-line rounded-lg bg-surface-2 text-left overflow-hidden pb-3 size-full hover:not-disabled:border-accent aria-busy:cursor-progress aria-busy:border-accent"
                aria-busy={busy === example.id || undefined}
                disabled={busy !== null}
                onClick={() => onOpen(example)}
                data-testid={formsIds.example(example.id)}
              >
                <span className="block w-full h-32 py-2.5 px-3.5 bg-canvas border-b border-line mb-2.5">
                  <MiniGraph records={example.records} />
                </span>
                <span className="px-3.5 font-semibold">{example.name}</span>
                <span className="pt-0.5 px-3.5 text-xs/[17px] text-text-2 text-pretty">
                  {example.summary}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function RecentRow({
  recent,
  index,
  busy,
  onOpen,
}: {
  recent: Recent;
  index: number;
  busy: boolean;
  onOpen(): void;
}) {
  return (
    <li>
      <button
        type="button"
        className="flex items-center gap-2.5 w-full h-9 px-3.5 text-left [&>svg]:text-text-3 [&>svg]:shrink-0 hover:not-disabled:bg-surface-3 focus-visible:-outline-offset-2 data-missing:cursor-not-allowed data-missing:text-text-3"
        data-missing={!recent.exists || undefined}
        aria-busy={busy || undefined}
        disabled={!recent.exists}
        onClick={onOpen}
        data-testid={formsIds.recent(index)}
      >
        {recent.exists ? <Workflow size={15} aria-hidden /> : <FileX size={15} aria-hidden />}
        <span className="font-medium shrink-0 max-w-[45%] truncate in-data-missing:line-through">
          {recent.name}
        </span>
        <span className="flex-1 min-w-0 text-xs/inherit text-text-3 [direction:rtl] text-left [unicode-bidi:plaintext] truncate">
          {recent.path}
        </span>
        <RunningMark path={recent.path} />
        <StoppedMark path={recent.path} />
        <span className="text-xs/inherit text-text-3 shrink-0 tabular-nums in-data-missing:text-failed">
          {recent.exists ? ago(recent.openedAt) : t("forms.start.missing")}
        </span>
      </button>
    </li>
  );
}
