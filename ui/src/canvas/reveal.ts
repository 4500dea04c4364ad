/** Moves of the camera that bring something into view. */
import { useEffect, useRef } from "react";
import { useRuns } from "../debugger/model/runStore";
import { readOverlay } from "../debugger/overlay/overlay";
import { watchEdits } from "../document/edit-events";
import type { Patch } from "../document/patch";
import { useSession } from "../state/session";
import { type Rect, union } from "./geometry";
import { scene } from "./scene";
import type { Fit, ViewHub } from "./view";
import { firstView, OVERVIEW_ZOOM } from "./viewport";

/** The graph as it is first shown. */
export const wholeGraph: Fit = (size) => {
  const bounds = scene.bounds();
  return bounds && firstView(bounds, size);
};

/** Brings a rectangle into view with the smallest move; the zoom stays when it can. A fitted view may stay one. */
export function reveal(hub: ViewHub, rect: Rect, keepFit = false): void {
  const { viewport, size } = hub;
  if (viewport.zoom < OVERVIEW_ZOOM) {
    hub.centre({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }, 1);
    return;
  }
  const pad = 48;
  const left = rect.x * viewport.zoom + viewport.x;
  const top = rect.y * viewport.zoom + viewport.y;
  const width = rect.width * viewport.zoom;
  const height = rect.height * viewport.zoom;
  const shift = (low: number, length: number, limit: number) => {
    if (length > limit - pad * 2) return pad - low;
    if (low < pad) return pad - low;
    if (low + length > limit - pad) return limit - pad - low - length;
    return 0;
  };
  const dx = shift(left, width, size.width);
  const dy = shift(top, height, size.height);
  if (dx === 0 && dy === 0) return;
  const moved = { x: viewport.x + dx, y: viewport.y + dy, zoom: viewport.zoom };
  if (keepFit) hub.place(moved);
  else hub.move(moved);
}

/** Where the nodes are drawn that a patch changes, or that the edges which it changes join. */
function changedBy({ ops }: Patch): Rect[] {
  const names = new Set<string>();
  for (const { id } of ops) {
    const [section, name] = [id.slice(0, id.indexOf(":")), id.slice(id.indexOf(":") + 1)];
    if (section === "layout" || section === "node") names.add(name);
    if (section === "edge") for (const line of scene.linesOf(name)) names.add(line.from).add(line.to);
  }
  return [...names].flatMap((name) => scene.rect(name) ?? []);
}

/** Of all nodes, those that are elsewhere when the graph was arranged. */
const ARRANGED = 0.9;

/**
 * Shows what undo and redo have changed, where nothing of it is in view. When nearly all nodes are elsewhere, a graph that is
 * shown as a whole, or from its start on, stays so, as after arranging it.
 */
export function useUndone(hub: ViewHub): void {
  useEffect(
    () =>
      watchEdits(({ how, patch }) => {
        if (how === "done" || hub.size.width === 0) return;
        const rects = changedBy(patch);
        if (hub.fitted && rects.length > ARRANGED * scene.rects().size) hub.refit();
        else if (!rects.some((rect) => hub.meets(rect))) {
          const rect = union(rects);
          if (rect) reveal(hub, rect);
        }
      }),
    [hub],
  );
}

/** Follows the running node with the camera while that is switched on; otherwise the camera keeps still during a run. */
export function useFollow(hub: ViewHub): void {
  const follow = useSession((state) => state.follow && state.use === "debug");
  useEffect(() => {
    if (!follow) return;
    let last: string | null = null;
    const timer = setInterval(() => {
      for (const [name, overlay] of readOverlay().nodes) {
        if (overlay.state !== "running" && overlay.state !== "asking") continue;
        const rect = scene.rect(name);
        if (name !== last && rect) reveal(hub, rect);
        last = name;
        return;
      }
    }, 150);
    return () => clearInterval(timer);
  }, [follow, hub]);
}

/** Brings the node of a task into view that is selected elsewhere: in the trace, a list of tasks or a table of packets. */
export function useSelectedTask(hub: ViewHub): void {
  const taskId = useSession((state) => (state.use === "debug" ? (state.cursor.taskId ?? null) : null));
  const view = useRuns((store) => store.shown?.view);
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (taskId === null) seen.current = null;
    if (taskId === null || taskId === seen.current || hub.size.width === 0) return;
    // Its step may still be on its way.
    const task = [...(view?.tasks ?? []), ...(view?.previousTasks ?? [])].find(({ id }) => id === taskId);
    const rect = task && scene.rect(task.node);
    if (!rect) return;
    seen.current = taskId;
    if (!hub.meets(rect)) reveal(hub, rect);
  }, [taskId, view, hub]);
}
