/** How the canvas answers to a person's hand, as chosen in Settings; kept in this window's storage. */
import { create } from "zustand";

/** What a wire does that is dropped where nothing is. */
export const DROP_ACTIONS = ["search", "menu", "nothing"] as const;
export type DropAction = (typeof DROP_ACTIONS)[number];

/** Steps of the grid that nodes are dragged on, which the dots of the canvas are on too; 0 is none. */
export const GRIDS = [0, 4, 8, 12, 24] as const;
export type Grid = (typeof GRIDS)[number];

export interface CanvasSettings {
  readonly drop: DropAction;
  /** The same with Shift held. */
  readonly dropShift: DropAction;
  readonly grid: Grid;
}

const STORE = "superstep.canvas";
const INITIAL: CanvasSettings = { drop: "search", dropShift: "menu", grid: 4 };

/** Settings from what was kept; what is not known counts as not said. */
export function readSettings(text: string | null): CanvasSettings {
  let kept: unknown = null;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    // Somebody else wrote there.
  }
  const given = typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
  const action = (name: "drop" | "dropShift") =>
    DROP_ACTIONS.find((each) => each === given[name]) ?? INITIAL[name];
  const grid = GRIDS.find((each) => each === given["grid"]) ?? INITIAL.grid;
  return { drop: action("drop"), dropShift: action("dropShift"), grid };
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null;
  }
}

export const useCanvasSettings = create<CanvasSettings>(() => readSettings(stored()));

/** The grid while a node is dragged: Alt does without it, or brings the finest one where there is none. */
export function gridNow(grid: Grid, alt: boolean): Grid {
  if (!alt) return grid;
  return grid === 0 ? 4 : 0;
}

export function setCanvasSettings(change: Partial<CanvasSettings>): void {
  useCanvasSettings.setState(change);
  try {
    localStorage.setItem(STORE, JSON.stringify(useCanvasSettings.getState()));
  } catch {
    // Without storage they last as long as the window.
  }
}
