/** Selection and drags as React Flow reports them: as changes. */
import type { EdgeChange, NodeChange } from "@xyflow/react";
import { useCallback } from "react";
import type { Point } from "../document/edits";
import { useSession } from "../state/session";
import { onAxis } from "./drag-keys";
import { movedWith } from "./frame-drag";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import type { CanvasEdge } from "./useWindow";

export function useChanges() {
  const onNodesChange = useCallback((changes: NodeChange[]) => {
    let moving: Map<string, Point> | null = null;
    let selected: Set<string> | null = null;
    for (const change of changes) {
      if (change.type === "position" && change.position && change.dragging) {
        moving ??= new Map(useCanvas.getState().moving);
        const place = onAxis(scene.corner(change.id), change.position);
        moving.set(change.id, place);
        for (const [name, position] of movedWith(change.id, place)) moving.set(name, position);
      } else if (change.type === "select") {
        selected ??= new Set(useSession.getState().selection.nodes);
        if (change.selected) selected.add(change.id);
        else selected.delete(change.id);
      }
    }
    if (moving) setCanvas({ moving });
    if (selected) {
      const { selection, select } = useSession.getState();
      select({ nodes: [...selected], edges: selection.edges });
    }
  }, []);

  const onEdgesChange = useCallback((changes: EdgeChange<CanvasEdge>[]) => {
    const chosen = new Set(useCanvas.getState().lines);
    const before = useSession.getState().selection;
    for (const id of before.edges) {
      if (![...chosen].some((line) => line === id || line.startsWith(`${id}|`))) {
        for (const line of scene.linesOf(id)) chosen.add(line.id);
      }
    }
    let touched = false;
    for (const change of changes) {
      if (change.type !== "select") continue;
      touched = true;
      if (change.selected) chosen.add(change.id);
      else chosen.delete(change.id);
    }
    if (!touched) return;
    const lines = [...chosen].filter((id) => scene.line(id));
    setCanvas({ lines });
    const ids = [...new Set(lines.flatMap((id) => scene.line(id)?.edge ?? []))];
    useSession.getState().select({ nodes: before.nodes, edges: ids });
  }, []);

  return { onNodesChange, onEdgesChange };
}
