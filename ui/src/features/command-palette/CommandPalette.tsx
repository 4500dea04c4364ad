/**
 * Everything by name: actions with their shortcuts, nodes of this graph, recent graphs, examples, threads. What was
 * used last comes first while nothing is typed.
 */
import { Dialog } from "@base-ui/react/dialog";
import {
  CornerDownRight,
  Database,
  FileClock,
  GalleryVerticalEnd,
  Link,
  Milestone,
  MousePointerClick,
  Zap,
} from "lucide-react";
import { useCallback, useEffect, useId, useMemo, useState, type KeyboardEvent, type ReactNode } from "react";
import { addNodeAt, focusNode } from "../../canvas/actions";
import { selectionActions } from "../../canvas/CanvasMenu";
import { KindIcon } from "../../components/KindIcon";
import { Kbd } from "../../components/Kbd";
import { useFocusBefore } from "../../components/useFocusBefore";
import { openMoment } from "../../debugger/run/open-moment";
import { isBlock } from "../../document/block-files";
import { doc, useDocumentState } from "../../document/store";
import { openGraph } from "../../document/open-graph";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { isAddress, splitAddress } from "../../lib/address";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { commandsToCome, registerCommand, useCommands } from "../../state/commands";
import { momentOf } from "../../state/moment-history";
import { askAddress } from "../../state/seen-dialogs";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import { goToStep } from "../timeline";
import { actionsOf, firstChosen, kindEntries, rankEntries, type Ranked } from "./ranking";

interface Entry extends Ranked {
  readonly shortcut?: string | undefined;
  readonly icon: ReactNode;
  run(): void;
}

const LAST = "superstep.commands";
const REMEMBERED = 6;

function lastUsed(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(LAST) ?? "[]");
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === "string") : [];
  } catch {
    return [];
  }
}

function remember(id: string): void {
  try {
    localStorage.setItem(
      LAST,
      JSON.stringify([id, ...lastUsed().filter((other) => other !== id)].slice(0, REMEMBERED)),
    );
  } catch {
    // Without storage the list is just not sorted by use.
  }
}

export function CommandPalette() {
  const [open, setOpen] = useState(false);
  const finalFocus = useFocusBefore(open);
  useEffect(
    () =>
      registerCommand({
        id: "palette.open",
        title: t("forms.command.open"),
        group: t("forms.command.view"),
        hidden: true,
        run: () => setOpen((now) => !now),
      }),
    [],
  );
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-50 bg-shade" />
        <Dialog.Popup
          className="outline-none bg-surface-2 text-text border border-line shadow-popup text-sm/4.5 select-none fixed z-52 top-[12vh] left-1/2 -translate-x-1/2 w-[min(600px,calc(100vw-32px))] max-h-[min(480px,76vh)] flex flex-col rounded-[10px]"
          finalFocus={finalFocus}
          aria-label={t("forms.command.label")}
          data-testid={formsIds.commandPalette}
        >
          {open && <CommandList close={() => setOpen(false)} focusBefore={finalFocus} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface CommandListProps {
  close(): void;
  /** What had the focus before the palette. */
  focusBefore(): HTMLElement | true;
}

function CommandList({ close, focusBefore }: CommandListProps) {
  const entries = useEntries();
  const [query, setQuery] = useState("");
  // The entry that the person went to; until then the first one, when it may be chosen.
  const [active, setActive] = useState<string | null>(null);
  // Enter that was pressed before all commands were there: what is meant may be among those to come.
  const [entered, setEntered] = useState(false);
  const complete = useComplete();
  const listId = useId();
  const used = useMemo(() => lastUsed(), []);

  const found = useMemo(
    () => [...typed(query), ...rankEntries(entries, query, used)],
    [entries, query, used],
  );
  const at = active === null ? -1 : found.findIndex(({ id }) => id === active);
  const chosen = at === -1 ? firstChosen(found, query) : at;
  useEffect(() => {
    document.getElementById(`${listId}${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen, listId, found]);

  const run = useCallback(
    (entry: Entry | undefined) => {
      if (!entry) return;
      remember(entry.id);
      close();
      // With the focus back where it was: what runs may take it, and a dialog returns it there.
      const before = focusBefore();
      requestAnimationFrame(() => {
        if (before !== true) before.focus({ preventScroll: true });
        entry.run();
      });
    },
    [close, focusBefore],
  );
  useEffect(() => {
    if (entered && complete) run(found[chosen]);
    // What is found at that moment counts.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [complete]);
  const goTo = (index: number) => setActive(found.at(index % Math.max(1, found.length))?.id ?? null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") goTo(chosen + 1);
    else if (event.key === "ArrowUp") goTo(Math.max(chosen, 0) - 1);
    else if (event.key === "Home" && event.ctrlKey) goTo(0);
    else if (event.key === "End" && event.ctrlKey) goTo(-1);
    else if (event.key !== "Enter") return;
    else if (complete) run(found[chosen]);
    else setEntered(true);
    event.preventDefault();
  };
  return (
    <>
      <input
        className="outline-none h-11 shrink-0 px-4 bg-transparent border-b border-line text-base/inherit"
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={chosen >= 0 ? `${listId}${chosen}` : undefined}
        aria-label={t("forms.command.label")}
        placeholder={t("forms.command.hint")}
        spellCheck={false}
        value={query}
        onKeyDown={onKeyDown}
        onBlur={({ currentTarget: input, relatedTarget: to }) => {
          // A dialog that closes meanwhile gives the focus back to what is behind the palette.
          const popup = input.closest("[data-open]");
          if (popup !== null && to instanceof Node && !popup.contains(to)) input.focus();
        }}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(null);
          setEntered(false);
        }}
      />
      <div
        className="flex-1 min-h-0 overflow-y-auto p-1.5 scroll-p-1.5"
        role="listbox"
        id={listId}
        aria-label={t("forms.command.label")}
        aria-busy={!complete}
      >
        {complete && found.length === 0 && (
          <p className="not-empty:py-2 not-empty:px-3 not-empty:text-xs/inherit not-empty:text-text-2">
            {t("forms.command.none")}
          </p>
        )}
        {found.map((entry, index) => (
          <div
            key={entry.id}
            id={`${listId}${index}`}
            role="option"
            aria-selected={index === chosen}
            data-active={index === chosen || undefined}
            className="flex items-center gap-2.5 min-h-8 px-2.5 rounded-md data-active:bg-accent-soft"
            data-testid={formsIds.commandEntry(entry.id)}
            onPointerMove={(event) => {
              // A list that comes up under a resting pointer is not pointed at.
              if (event.movementX !== 0 || event.movementY !== 0) setActive(entry.id);
            }}
            onClick={() => run(entry)}
          >
            <span className="flex text-text-3 shrink-0">{entry.icon}</span>
            <span className="shrink-0 max-w-[60%] truncate">{entry.title}</span>
            {entry.text !== undefined && entry.text !== "" && (
              <span className="min-w-0 text-xs/inherit text-text-3 truncate">{entry.text}</span>
            )}
            <span className="ml-auto text-2xs/inherit text-text-3 shrink-0">{entry.group}</span>
            {entry.shortcut !== undefined && <Kbd keys={entry.shortcut} />}
          </div>
        ))}
      </div>
    </>
  );
}

/** What is meant by the words themselves: the number of a step, the link to a moment. */
function typed(query: string): Entry[] {
  const group = t("debug.group");
  const moment = momentOf(query);
  if (moment)
    return [
      {
        id: "moment.open",
        group,
        title: t("debug.command.openLink"),
        icon: <Link size={14} aria-hidden />,
        run: () => void openMoment(moment),
      },
    ];
  if (isAddress(query)) {
    const { address, password } = splitAddress(query);
    return [
      {
        id: "graph.openAddress",
        group: t("shell.group.file"),
        title: t("seen.address.found", { address }),
        icon: <Database size={14} aria-hidden />,
        run: () => askAddress(query, password === ""),
      },
    ];
  }
  const [, number] = /^\s*(?:(?:go to )?step )?(\d{1,9})\s*$/i.exec(query) ?? [];
  if (number === undefined || useSession.getState().cursor.threadId === null) return [];
  const step = Number(number);
  return [
    {
      id: "step.go",
      group,
      title: t("debug.goto.step", { n: step }),
      icon: <Milestone size={14} aria-hidden />,
      run: () => {
        useSession.getState().setUse("debug");
        void goToStep(step);
      },
    },
  ];
}

/** Whether all commands are there. Asks for those to come. */
function useComplete(): boolean {
  const [complete, setComplete] = useState(() => commandsToCome() === null);
  useEffect(() => {
    const done = () => setComplete(true);
    // Without the others, what is there can be run.
    commandsToCome()?.then(done, done);
  }, []);
  return complete;
}

function useEntries(): Entry[] {
  const commands = useCommands();
  const appInfo = useSession((state) => state.appInfo);
  const graphId = useDocumentState((state) => state.graphId);
  const use = useSession((state) => state.use);
  const [threads, setThreads] = useState<readonly ThreadView[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("thread.list", { limit: 50, ...(graphId !== null && { graphId }) }, abort.signal).then(
      (list) => setThreads(list.threads),
      () => {
        // The palette works without them; the thread panel shows the problem.
      },
    );
    return () => abort.abort();
  }, [graphId]);

  return useMemo(() => {
    const actions = actionsOf(commands.filter((command) => command.enabled?.() !== false)).map((action) => ({
      ...action,
      icon: <Zap size={14} aria-hidden />,
    }));
    const named = new Set(commands.map((command) => command.id));
    const selected =
      graphId === null || use !== "design"
        ? []
        : selectionActions()
            .filter(({ id }) => !named.has(id))
            .map((action) => ({
              ...action,
              id: `selected:${action.id}`,
              group: t("forms.command.selected"),
              action: true,
              icon: <MousePointerClick size={14} aria-hidden />,
            }));
    const kinds =
      graphId === null
        ? []
        : kindEntries(appInfo?.kinds ?? []).map((entry) => ({
            ...entry,
            icon: <KindIcon icon={entry.icon} size={14} />,
            run: () => {
              const session = useSession.getState();
              if (session.use !== "design") session.setUse("design");
              requestAnimationFrame(() => addNodeAt(entry.kind));
            },
          }));
    const nodes =
      graphId === null
        ? []
        : doc.names("node").map((name) => ({
            id: `node:${name}`,
            group: t("forms.command.nodes"),
            title: name,
            icon: <CornerDownRight size={14} aria-hidden />,
            run: () => {
              const session = useSession.getState();
              if (session.use === "approve") session.setUse("design");
              session.select({ nodes: [name] });
              requestAnimationFrame(() => focusNode(name));
            },
          }));
    const recents = (appInfo?.recents ?? [])
      .filter((recent) => recent.exists && !isBlock(recent.path))
      .map((recent) => ({
        id: `recent:${recent.path}`,
        group: t("forms.command.recent"),
        title: recent.name,
        text: recent.path,
        icon: <FileClock size={14} aria-hidden />,
        run: () => void rpc("graph.open", { path: recent.path }).then(openGraph, showProblem),
      }));
    const examples = (appInfo?.examples ?? []).map((example) => ({
      id: `example:${example.id}`,
      group: t("forms.command.examples"),
      title: example.name,
      text: example.summary,
      icon: <GalleryVerticalEnd size={14} aria-hidden />,
      run: () => void rpc("graph.openExample", { id: example.id }).then(openGraph, showProblem),
    }));
    const switches = threads.map((thread) => ({
      id: `thread:${thread.threadId}`,
      group: t("forms.command.threads"),
      title: thread.title,
      text: thread.graphName,
      icon: <Milestone size={14} aria-hidden />,
      run: () => {
        const session = useSession.getState();
        session.setUse("debug");
        session.setCursor({ threadId: thread.threadId, checkpointId: null });
      },
    }));
    return [...actions, ...selected, ...kinds, ...nodes, ...recents, ...switches, ...examples];
  }, [commands, appInfo, graphId, use, threads]);
}
