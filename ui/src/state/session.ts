/**
 * What this window looks at: the use, the selection, the moment (cursor), panels, settings. Nothing here
 * is part of a document, nothing here is ever undone. What should outlive the window is kept in its local storage.
 */
import { create } from "zustand";
import type { AppInfo } from "../ipc/bindings/AppInfo";
import type { Language } from "../ipc/bindings/Language";
import type { Settings } from "../ipc/bindings/Settings";
import type { Theme } from "../ipc/bindings/Theme";
import { rpc } from "../ipc/client";
import { spokenKinds } from "./kinds";
import { showProblem } from "./toasts";

export type Use = "design" | "debug" | "approve";
export type Side = "left" | "right" | "bottom";
/** What has a size that a person can change: the sides, and the part of the bottom that is beside the rest of it. */
export type Sized = Side | "beside";
/** What the window has room for: one side at a time, a side less, what is usual, two parts at the bottom. */
type Room = "narrow" | "small" | "usual" | "large";

/** The tabs of the bottom panel that stand beside the others in a large window: what a run did, and what was found. */
const BESIDE: ReadonlySet<string> = new Set(["trace", "stream", "messages", "problems", "find"]);

/** The part of the bottom panel that a tab is in when there are two. */
export function partOf(tab: string): "bottom" | "beside" {
  return BESIDE.has(tab) ? "beside" : "bottom";
}

export interface Selection {
  /** Node names, `__start__` and `__end__` included. */
  readonly nodes: readonly string[];
  /** Edge ids, without the `edge:` of the record. */
  readonly edges: readonly string[];
  /** Name of the state key that is open. */
  readonly key: string | null;
}

/** The moment that everything shows. `checkpointId` null is now. */
export interface Cursor {
  readonly threadId: string | null;
  readonly checkpointId: string | null;
  /** One task of the step that runs from there, or ran. */
  readonly taskId?: string | null;
}

/** A moment that another one is compared with. `checkpointId` null is now. */
export type ComparedMoment = Pick<Cursor, "checkpointId"> & { readonly threadId: string };

export interface PanelState {
  readonly size: number;
  readonly folded: boolean;
  /** The settings come and go with the selection, the left panel with the room, until a person opens or folds them. */
  readonly auto?: boolean;
  /** The bottom panel takes the place of the canvas too. */
  readonly large?: boolean;
  /** The bottom panel has other things to show in each use, and is opened and folded in each for itself. */
  readonly foldedIn?: Partial<Record<Use, boolean>>;
}

interface FieldFocus {
  readonly record: string;
  readonly pointer: string | null;
  /** Differs each time, so that asking twice for the same field focuses twice. */
  readonly nonce: number;
}

/**
 * Is this panel folded? While a graph is designed, the settings are when nothing is selected, and in a narrow window the
 * nodes; the list of the threads is while one is debugged in a small window, and in a narrow one always.
 */
export function isFolded(
  state: Pick<SessionState, "panels" | "use" | "selection" | "cursor" | "room">,
  side: Side,
): boolean {
  const { folded, auto = !folded, foldedIn } = state.panels[side];
  if (side === "bottom") return foldedIn?.[state.use] ?? folded;
  if (side === "left" && auto && state.use === "debug")
    return state.room === "narrow" || (state.room === "small" && state.cursor.threadId !== null);
  if (side === "left" && auto && state.use === "design") return state.room === "narrow";
  if (side !== "right" || state.use !== "design" || !auto) return folded;
  return isEmpty(state.selection);
}

const isEmpty = ({ nodes, edges }: Selection) => nodes.length === 0 && edges.length === 0;

const EMPTY_SELECTION: Selection = { nodes: [], edges: [], key: null };
const NOW: Cursor = { threadId: null, checkpointId: null };
/** A panel takes up to half of the window. The size it begins with stands for "as the window has room". */
export const PANEL_LIMITS: Record<Sized, { min: number; initial: number }> = {
  left: { min: 200, initial: 260 },
  right: { min: 280, initial: 360 },
  bottom: { min: 120, initial: 240 },
  beside: { min: 320, initial: 0 },
};

interface SessionState {
  readonly appInfo: AppInfo | null;
  readonly graphId: string | null;
  /** What views and breakpoints of this graph are kept under: its file, or the draft's id. */
  readonly graphKey: string | null;
  readonly use: Use;
  readonly selection: Selection;
  readonly cursor: Cursor;
  /** Stays while the cursor goes from thread to thread. */
  readonly compareWith: ComparedMoment | null;
  readonly panels: Readonly<Record<Sized, PanelState>>;
  readonly room: Room;
  /** The tab shown in a panel, by `use.side`; in each part of the bottom, by `use.bottom.part`. */
  readonly tabs: Readonly<Record<string, string>>;
  readonly theme: Theme;
  /** As a person has chosen; what is spoken is in `language.ts`. */
  readonly language: Language;
  readonly follow: boolean;
  /** As a person has chosen; null for none, which the size of the canvas decides. */
  readonly minimap: boolean | null;
  readonly pendingFocus: FieldFocus | null;

  setAppInfo(appInfo: AppInfo): void;
  /** Counts at once here; the promise is kept when the program knows it too. */
  setSettings(change: Partial<Settings>): Promise<void>;
  /** Settings as the program took them. */
  takeSettings(settings: Settings): void;
  graphOpened(graphId: string | null, path: string | null, again: boolean): void;
  graphMoved(path: string): void;
  setUse(use: Use): void;
  /** Replaces the given parts of the selection; parts left out become empty. */
  select(selection: Partial<Selection>): void;
  setCursor(cursor: Partial<Cursor>): void;
  setCompareWith(moment: ComparedMoment | null): void;
  /** Compares the moment with the cursor's, and shows that. */
  compare(moment: ComparedMoment): void;
  setPanel(side: Sized, change: Partial<PanelState>): void;
  /** Shows a tab of a panel and unfolds the panel. */
  showTab(side: Side, tab: string, use?: Use): void;
  setTheme(theme: Theme): void;
  setFollow(follow: boolean): void;
  setMinimap(minimap: boolean): void;
  /** Selects the record and asks the inspector to focus the field at `pointer`. */
  focusField(record: string, pointer?: string | null): void;
  clearPendingFocus(): void;
}

interface Kept {
  panels: SessionState["panels"];
  tabs: SessionState["tabs"];
  minimap: SessionState["minimap"];
  theme: Theme;
  language: Language;
  follow: boolean;
}

const STORE = "superstep.session";
const initialPanel = (side: Sized): PanelState => ({
  size: PANEL_LIMITS[side].initial,
  folded: side === "bottom",
});

const foldedFor = (panel: PanelState, use: Use, folded: boolean): PanelState => ({
  ...panel,
  foldedIn: { ...panel.foldedIn, [use]: folded },
});

function kept(): Kept {
  const fresh: Kept = {
    panels: {
      left: initialPanel("left"),
      right: initialPanel("right"),
      bottom: initialPanel("bottom"),
      beside: initialPanel("beside"),
    },
    tabs: {},
    minimap: null,
    theme: "system",
    language: "system",
    follow: false,
  };
  try {
    const text = localStorage.getItem(STORE);
    if (text === null) return fresh;
    const { shownMap, ...kept } = JSON.parse(text) as Partial<Kept & { shownMap: boolean | null }>;
    // Once "shown" was kept whether a person had chosen it or not.
    const minimap = shownMap ?? (kept.minimap === false ? false : null);
    return { ...fresh, ...kept, panels: { ...fresh.panels, ...kept.panels }, minimap };
  } catch {
    return fresh;
  }
}

/** The settings that the window shows from its first moment, before the program has been asked. */
const shownOf = ({ theme, language, follow }: Settings) => ({ theme, language, follow });

let focusNonce = 0;

export const useSession = create<SessionState>((set, get) => ({
  ...kept(),
  appInfo: null,
  graphId: null,
  graphKey: null,
  use: "design",
  selection: EMPTY_SELECTION,
  cursor: NOW,
  compareWith: null,
  pendingFocus: null,
  room: "usual",

  setAppInfo: (appInfo) =>
    set({ appInfo: { ...appInfo, kinds: spokenKinds(appInfo.kinds) }, ...shownOf(appInfo.settings) }),
  setSettings: (change) => {
    const { appInfo } = get();
    if (!appInfo) return Promise.resolve();
    const settings = { ...appInfo.settings, ...change };
    set({ appInfo: { ...appInfo, settings }, ...shownOf(settings) });
    return rpc("settings.set", settings).then(() => {}, showProblem);
  },
  takeSettings: (settings) => set(({ appInfo }) => (appInfo ? { appInfo: { ...appInfo, settings } } : {})),
  graphOpened: (graphId, path, again) =>
    set((state) => ({
      graphId,
      graphKey: path ?? graphId,
      ...(again ? {} : { selection: EMPTY_SELECTION, cursor: NOW, compareWith: null, pendingFocus: null }),
      use: graphId === null && state.use !== "approve" ? "design" : state.use,
    })),
  graphMoved: (path) => set({ graphKey: path }),
  setUse: (use) => set({ use }),
  select: (selection) => set({ selection: { ...EMPTY_SELECTION, ...selection } }),
  setCursor: (cursor) =>
    set((state) => {
      const threadId = cursor.threadId === undefined ? state.cursor.threadId : cursor.threadId;
      const sameThread = threadId === state.cursor.threadId;
      const checkpointId =
        cursor.checkpointId === undefined
          ? sameThread
            ? state.cursor.checkpointId
            : null
          : cursor.checkpointId;
      const taskId = cursor.taskId ?? null;
      return { cursor: { threadId, checkpointId, ...(taskId !== null && { taskId }) } };
    }),
  setCompareWith: (compareWith) => set({ compareWith }),
  compare: (compareWith) => {
    set({ compareWith });
    get().showTab("bottom", "compare");
  },
  setPanel: (side, change) =>
    set((state) => {
      if (side === "bottom" && change.folded !== undefined) {
        const { folded, ...rest } = change;
        const bottom = { ...foldedFor(state.panels.bottom, state.use, folded), ...rest };
        return { panels: { ...state.panels, bottom } };
      }
      const next = { ...state.panels[side], ...change };
      if (side === "right" && change.folded !== undefined && state.use === "design") {
        // Folded with nothing to show, or opened with something: that is what it does by itself.
        const auto = change.folded === isEmpty(state.selection);
        return { panels: { ...state.panels, right: { ...next, auto, ...(auto && { folded: false }) } } };
      }
      if (
        side === "left" &&
        change.folded !== undefined &&
        (state.use === "debug" || state.room === "narrow")
      )
        return { panels: { ...state.panels, left: { ...next, auto: false } } };
      return { panels: { ...state.panels, [side]: next } };
    }),
  showTab: (side, tab, use) =>
    set((state) => ({
      tabs: {
        ...state.tabs,
        [`${use ?? state.use}.${side}`]: tab,
        ...(side === "bottom" && { [`${use ?? state.use}.bottom.${partOf(tab)}`]: tab }),
      },
      panels: {
        ...state.panels,
        [side]:
          side === "bottom"
            ? foldedFor(state.panels.bottom, use ?? state.use, false)
            : {
                ...state.panels[side],
                folded: false,
                ...((side === "right" || (side === "left" && state.room === "narrow")) && { auto: false }),
              },
      },
    })),
  setTheme: (theme) => void get().setSettings({ theme }),
  setFollow: (follow) => void get().setSettings({ follow }),
  setMinimap: (minimap) => set({ minimap }),
  focusField: (record, pointer = null) => {
    const name = record.slice(record.indexOf(":") + 1);
    if (record.startsWith("node:") || record.startsWith("layout:")) get().select({ nodes: [name] });
    else if (record.startsWith("edge:")) get().select({ edges: [name] });
    else if (record.startsWith("key:")) {
      get().select({ key: name });
      get().showTab("left", "keys", "design");
    } else get().select({});
    set((state) => ({
      pendingFocus: { record, pointer, nonce: ++focusNonce },
      panels: {
        ...state.panels,
        right: {
          ...state.panels.right,
          folded: false,
          auto: isEmpty(state.selection) ? false : (state.panels.right.auto ?? true),
        },
      },
    }));
  },
  clearPendingFocus: () => set({ pendingFocus: null }),
}));

if (typeof matchMedia === "function") {
  const rooms = [
    ["narrow", matchMedia("(max-width: 900px)")],
    ["small", matchMedia("(max-width: 1200px)")],
    ["large", matchMedia("(min-width: 1921px)")],
  ] as const;
  const measure = () =>
    useSession.setState({ room: rooms.find(([, query]) => query.matches)?.[0] ?? "usual" });
  for (const [, query] of rooms) query.addEventListener("change", measure);
  measure();
}

let saving: ReturnType<typeof setTimeout> | undefined;
useSession.subscribe((state, before) => {
  const fields = ["panels", "tabs", "minimap", "theme", "language", "follow"] as const;
  if (fields.every((field) => state[field] === before[field])) return;
  clearTimeout(saving);
  saving = setTimeout(() => {
    try {
      const { panels, tabs, minimap, theme, language, follow } = useSession.getState();
      localStorage.setItem(
        STORE,
        JSON.stringify({ panels, tabs, shownMap: minimap, theme, language, follow }),
      );
    } catch {
      // Storage is full or forbidden: the window forgets its panels, nothing else.
    }
  }, 300);
});

/** The two compared moments change places. */
export function swapCompared(): void {
  const { compareWith, cursor, setCompareWith, setCursor } = useSession.getState();
  if (compareWith === null || cursor.threadId === null) return;
  setCompareWith({ threadId: cursor.threadId, checkpointId: cursor.checkpointId });
  setCursor(compareWith);
}
