/** Drags of nodes: they move what is selected, and one that is connected to nothing yet may be dropped into an edge. */
import type { OnNodeDrag } from "@xyflow/react";
import { useCallback, useEffect, useRef, type RefObject } from "react";
import { inTurn, moveNodes, spliceIntoEdge, type Point } from "../document/edits";
import { doc } from "../document/store";
import { edit, mark, squashFrom } from "../document/edit";
import { END, START } from "../document/types";
import { t, tn } from "../lib/texts";
import { useSession } from "../state/session";
import { roomBetween } from "./adding";
import { notePlaced } from "./by-hand";
import { lineNear } from "./interactions/hit";
import { dropCopies, followShift, onAxis } from "./drag-keys";
import { heldNow, holdFrames } from "./frame-drag";
import { isFrame, noteOf, withFolded } from "./notes";
import { scene } from "./scene";
import { setCanvas, STILL, useCanvas } from "./store";

/** Places of a loose node that goes into a line, and of what gives way. */
function roomFor(name: string, { corner, moved }: { corner: Point; moved: Map<string, Point> }) {
  const places = new Map(withFolded(scene, moved));
  if (moved.size > 0) places.set(name, scene.filed(corner));
  return places;
}

export function useDrag(root: RefObject<HTMLDivElement | null>) {
  useEffect(followShift, []);
  const copying = useRef(false);
  const onNodeDragStart = useCallback<OnNodeDrag>((event, node, dragged) => {
    copying.current = event.altKey;
    setCanvas({ splice: null });
    const { selection, select } = useSession.getState();
    // A frame is not selected by what React Flow does, so that a marquee within it leaves it alone.
    if (!selection.nodes.includes(node.id) && isFrame(doc, node.id)) select({ nodes: [node.id] });
    holdFrames(node.id, [...dragged.map(({ id }) => id), ...useSession.getState().selection.nodes]);
  }, []);
  const spliceFrame = useRef(0);
  const onNodeDrag = useCallback<OnNodeDrag>(
    (event, node, dragged) => {
      // A node that is connected already would tie a knot; and what is spliced is one node.
      if (
        copying.current ||
        dragged.length !== 1 ||
        node.id === START ||
        node.id === END ||
        doc.edgesOf(node.id).length > 0
      )
        return;
      if (noteOf(doc.get(`node:${node.id}`))) return;
      const point = "clientX" in event ? { x: event.clientX, y: event.clientY } : null;
      if (!point || spliceFrame.current !== 0) return;
      spliceFrame.current = requestAnimationFrame(() => {
        spliceFrame.current = 0;
        if (!root.current || useCanvas.getState().moving.size === 0) return;
        setCanvas({ splice: lineNear(root.current, point, 28, () => false) });
      });
    },
    [root],
  );
  const onNodeDragStop = useCallback<OnNodeDrag>((event, node, dragged) => {
    const { splice } = useCanvas.getState();
    const start = scene.corner(node.id);
    const place = onAxis(start, node.position, event.shiftKey);
    const delta = { x: place.x - start.x, y: place.y - start.y };
    setCanvas({ moving: STILL, splice: null });
    const names = new Set([...dragged.map((each) => each.id), ...useSession.getState().selection.nodes]);
    if (!names.has(node.id)) names.clear();
    names.add(node.id);
    for (const name of heldNow()) names.add(name);
    holdFrames(node.id, []);
    if (delta.x === 0 && delta.y === 0) return;
    const positions = scene.dragged(
      [...names].filter((name) => scene.rect(name)),
      delta,
    );
    if (copying.current) {
      dropCopies(positions);
      return;
    }
    const begin = mark();
    const name = tn("canvas.edit.move.one", "canvas.edit.move.many", positions.size, { name: node.id });
    edit(name, (document) => moveNodes(document, positions));
    notePlaced(doc, positions.keys());
    const line = splice === null ? undefined : scene.line(splice);
    if (line) {
      // Its own place is none of those that are taken: it is moved away from it first.
      const room = roomBetween(line);
      edit(t("canvas.edit.splice"), (document) =>
        inTurn(
          document,
          (each) => spliceIntoEdge(each, line.edge, line.part, node.id),
          (each) => (room ? moveNodes(each, roomFor(node.id, room)) : { ops: [] }),
        ),
      );
      squashFrom(begin, t("canvas.edit.splice"));
    }
  }, []);

  return { onNodeDragStart, onNodeDrag, onNodeDragStop };
}
