/**
 * The keys that a drag of nodes goes by. Shift keeps it on one axis. Alt held from the press on leaves the nodes where they
 * are and drags copies of them; pressed later it takes the drag off the grid.
 */
import { copyNodes, pasteClip } from "../document/clip";
import type { Point } from "../document/edits";
import { edit } from "../document/edit";
import { doc } from "../document/store";
import { END, START } from "../document/types";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { knownKinds } from "./kinds";
import { scene } from "./scene";

let shift = false;

/** Follows Shift for as long as the canvas is there: what moves a node says nothing of keys. */
export function followShift(): () => void {
  const follow = (event: KeyboardEvent | PointerEvent) => void (shift = event.shiftKey);
  const names = ["keydown", "keyup", "pointerdown", "pointermove"] as const;
  for (const name of names) window.addEventListener(name, follow, true);
  return () => {
    for (const name of names) window.removeEventListener(name, follow, true);
  };
}

/** Where a dragged node is: with Shift on the axis that it has moved along farther. */
export function onAxis(from: Point, to: Point, constrained = shift): Point {
  if (!constrained) return to;
  return Math.abs(to.x - from.x) >= Math.abs(to.y - from.y) ? { x: to.x, y: from.y } : { x: from.x, y: to.y };
}

/** Puts copies of nodes where those were dragged to. Start and End have none. */
export function dropCopies(positions: ReadonlyMap<string, Point>): void {
  const names = [...positions.keys()].filter((name) => name !== START && name !== END);
  if (names.length === 0) return;
  const clip = copyNodes(doc, names, (name) => positions.get(name) ?? scene.position(name));
  const spots = Object.keys(clip.nodes).flatMap((name) => positions.get(name) ?? []);
  if (spots.length === 0) return;
  const corner = {
    x: Math.min(...spots.map(({ x }) => x)),
    y: Math.min(...spots.map(({ y }) => y)),
  };
  const { patch, names: copies } = pasteClip(doc, clip, corner, knownKinds());
  if (edit(t("canvas.edit.duplicate"), patch)) useSession.getState().select({ nodes: copies });
}
