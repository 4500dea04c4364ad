/** What is going on on the canvas right now: drags, open editors, the search. Never part of the document or of undo. */
import { create } from "zustand";
import type { Point } from "../document/edits";
import type { Leaving } from "../document/ports";
import type { WireEnd } from "../document/wire-fit";
import { useSession } from "../state/session";
import type { Line } from "./lines";

/** Cards; icons and names at a fixed size; blocks. */
export type Drawing = "near" | "middle" | "far";

export interface Search {
  /** Where on the screen. */
  readonly screen: Point;
  /** Where in the graph the new node goes. */
  readonly place: Point;
  /** The wire that was dropped there, and which way it leaves its node. */
  readonly wire: WireEnd | null;
  /** Only the usual kinds, until more is asked for. */
  readonly usual?: boolean;
  /** The line that the new node is put into. */
  readonly line?: string;
  /** The wires that are moved to the node that is chosen, and where they may go. */
  readonly moving?: { readonly lines: readonly Line[]; readonly places: readonly string[] };
}

/** Why a wire does not go somewhere, and what to do. */
export interface RefusalWords {
  readonly title: string;
  readonly text: string;
}

/** A wire while it is drawn, or wires whose ends are moved. */
interface Wiring {
  /** The node whose port was taken. */
  readonly node: string;
  /** Does the end that stays leave a node, or lead into one? */
  readonly side: WireEnd["side"];
  readonly refusal: (node: string) => RefusalWords | null;
  /** The lines that are moved together; none while one wire is drawn. */
  readonly carried: readonly Line[];
}

interface LabelEdit {
  readonly line: string;
  readonly what: "label" | "caption" | "bound";
}

export interface CanvasMenuPlace {
  /** Where on the screen. */
  readonly at: Point;
  /** Where in the graph. */
  readonly place: Point;
  readonly node?: string;
  readonly line?: string;
}

/** A wire from a node that chooses, of which it is not yet said which way it takes. */
export interface Choice {
  readonly node: string;
  /** Where on the screen. */
  readonly at: Point;
  /** Where the wire leads, for the name of a new way. */
  readonly to: string | null;
  readonly choose: (leaving: Leaving) => void;
}

interface CanvasState {
  /** Positions of nodes that are being dragged. */
  readonly moving: ReadonlyMap<string, Point>;
  readonly renaming: string | null;
  readonly labelEdit: LabelEdit | null;
  readonly search: Search | null;
  /** The line that a dragged node would be put into. */
  readonly splice: string | null;
  /** Single lines that are selected, of routes and joins. */
  readonly lines: readonly string[];
  /** A kind that is being dragged from the palette, and where its card would be. */
  readonly ghost: { readonly kind: string; readonly place: Point } | null;
  readonly choice: Choice | null;
  readonly wiring: Wiring | null;
  /** The wire that is drawn is refused where it is, or would do harm there. */
  readonly refusing: boolean;
  /** The line under the pointer. */
  readonly hovered: string | null;
  readonly overview: boolean;
  /** Has the canvas room for the minimap? */
  readonly roomy: boolean;
  /** How the graph is drawn at this zoom. */
  readonly drawing: Drawing;
  /** Are its cards too small for the labels of their ways? */
  readonly small: boolean;
  readonly menu: CanvasMenuPlace | null;
}

export const STILL: ReadonlyMap<string, Point> = new Map();

export const useCanvas = create<CanvasState>(() => ({
  moving: STILL,
  renaming: null,
  labelEdit: null,
  search: null,
  splice: null,
  lines: [],
  ghost: null,
  choice: null,
  wiring: null,
  refusing: false,
  hovered: null,
  overview: false,
  roomy: true,
  drawing: "near",
  small: false,
  menu: null,
}));

export const setCanvas = useCanvas.setState;

/** Is the minimap shown? As a person has said, else where the canvas has room for it. */
export function useMinimap(): boolean {
  const roomy = useCanvas((state) => state.roomy);
  return useSession((state) => state.minimap) ?? roomy;
}

export const isMinimapShown = (): boolean => useSession.getState().minimap ?? useCanvas.getState().roomy;
