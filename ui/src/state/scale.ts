/**
 * How large the interface is drawn in the window of the app; kept in this window's storage, because it suits a screen. A
 * browser has a zoom of its own: there is no scale then, and no command.
 */
import { create } from "zustand";
import { host } from "../ipc/client";
import { t } from "../lib/texts";
import { announce } from "./announce";
import { registerCommands } from "./commands";
import { showProblem } from "./toasts";

export const SCALES = [0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2] as const;
type Scale = (typeof SCALES)[number];

const STORE = "superstep.scale";

/** Reads what was kept; what is none of the scales counts as not said. */
export const readScale = (text: string | null): Scale => SCALES.find((scale) => String(scale) === text) ?? 1;

/** Finds the scale beside another one; the last one stays. */
export const scaleBeside = (scale: Scale, by: 1 | -1): Scale => SCALES[SCALES.indexOf(scale) + by] ?? scale;

export const scaleText = (scale: Scale): string => `${Math.round(scale * 100)} %`;

function stored(): string | null {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null;
  }
}

export const useScale = create<{ readonly scale: Scale }>(() => ({ scale: readScale(stored()) }));

/** Says whether the host can draw the interface in other sizes. */
export const canScale = (): boolean => host.setScale !== undefined;

function draw(scale: Scale): void {
  host.setScale?.(scale).catch(showProblem);
}

export function setScale(scale: Scale): void {
  useScale.setState({ scale });
  try {
    localStorage.setItem(STORE, String(scale));
  } catch {
    // Without storage it lasts as long as the window.
  }
  draw(scale);
  announce(t("scale.now", { scale: scaleText(scale) }));
}

/** Draws the interface as large as it was when the window was closed. */
export function restoreScale(): void {
  const { scale } = useScale.getState();
  if (scale !== 1) draw(scale);
}

export function registerScaleCommands(): () => void {
  if (!canScale()) return () => {};
  const group = t("shell.group.view");
  const beside = (by: 1 | -1) => scaleBeside(useScale.getState().scale, by);
  const canGo = (by: 1 | -1) => () => beside(by) !== useScale.getState().scale;
  return registerCommands([
    {
      id: "window.zoomIn",
      title: t("scale.in"),
      group,
      enabled: canGo(1),
      run: () => setScale(beside(1)),
    },
    {
      id: "window.zoomOut",
      title: t("scale.out"),
      group,
      enabled: canGo(-1),
      run: () => setScale(beside(-1)),
    },
    { id: "window.actualSize", title: t("scale.reset"), group, run: () => setScale(1) },
  ]);
}
