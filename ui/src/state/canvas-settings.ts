/** How the canvas answers to a person's hand, as chosen in Settings; kept in this window's storage. */
import { create } from "zustand";

/** What a wire does that is dropped where nothing is. */
export const DROP_ACTIONS = ["search", "menu", "nothing"] as const;
export type DropAction = (typeof DROP_ACTIONS)[number];

export interface CanvasSettings {
  readonly drop: DropAction;
  /** The same with Shift held. */
  readonly dropShift: DropAction;
}

const STORE = "superstep.canvas";
const INITIAL: CanvasSettings = { drop: "search", dropShift: "menu" };

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
  return { drop: action("drop"), dropShift: action("dropShift") };
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null;
  }
}

export const useCanvasSettings = create<CanvasSettings>(() => readSettings(stored()));

export function setCanvasSettings(change: Partial<CanvasSettings>): void {
  useCanvasSettings.setState(change);
  try {
    localStorage.setItem(STORE, JSON.stringify(useCanvasSettings.getState()));
  } catch {
    // Without storage they last as long as the window.
  }
}
