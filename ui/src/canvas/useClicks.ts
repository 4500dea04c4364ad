/** Clicks on nodes, edges and the pane, and the menus that they open. */
import { useCallback, useEffect, useRef, type MouseEvent as ReactMouseEvent, type RefObject } from "react";
import type { Point } from "../document/edits";
import { showKeysOf } from "../document/highlighted-key";
import { nestedGraphOf, openNestedGraph } from "../document/nested-graphs";
import { useDocumentState } from "../document/store";
import { END, START } from "../document/types";
import { wasLongPress } from "../state/long-press";
import { useSession } from "../state/session";
import { openCanvasMenu } from "./CanvasMenu";
import { toggleFolds } from "./folds";
import { hoverLine } from "./hover";
import { scene } from "./scene";
import { linesAt, meantLine } from "./interactions/hit";
import { selectLine } from "./line-selection";
import type { Line } from "./lines";
import { setCanvas, useCanvas } from "./store";
import { type CanvasEdge, lineOf } from "./useWindow";
import type { ViewHub } from "./view";

/** The node of an expanded card's graph that was clicked. */
const innerAt = (event: ReactMouseEvent): string | null =>
  (event.target as Element).closest("[data-inner]")?.getAttribute("data-inner") ?? null;

/** Clicks that are nearer to each other are at the same place, in screen pixels. */
const SAME_PLACE = 4;

/** A graph that was seen in threads is only read: nothing in it is renamed or added. */
const isEditable = (): boolean => useDocumentState.getState().seen === null;

export function useClicks(
  root: RefObject<HTMLDivElement | null>,
  hub: ViewHub,
  place: (screen: Point) => Point,
) {
  const onNodeClick = useCallback((event: ReactMouseEvent, node: { id: string }) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { selection, select } = useSession.getState();
    setCanvas({ lines: [] });
    if (selection.nodes.length !== 1 || selection.nodes[0] !== node.id || selection.edges.length > 0) {
      select({ nodes: [node.id] });
    }
  }, []);
  const onNodeDoubleClick = useCallback((event: ReactMouseEvent, node: { id: string }) => {
    if (node.id === START || node.id === END) return;
    if (scene.isFolded(node.id)) toggleFolds([node.id]);
    else if (nestedGraphOf(node.id) !== null) void openNestedGraph(node.id, innerAt(event));
    else if (isEditable()) setCanvas({ renaming: node.id });
  }, []);
  const onEdgeDoubleClick = useCallback((_event: ReactMouseEvent, edge: CanvasEdge) => {
    const line = lineOf(edge);
    if (line && line.label !== null && !line.isDefault && line.port === null && isEditable())
      setCanvas({ labelEdit: { line: line.id, what: "label" } });
  }, []);
  /** What the click before meant, and where. */
  const clicked = useRef<{ id: string; at: Point } | null>(null);
  /** The line that is meant at a point where several may lie on each other. */
  const meant = useCallback(
    (event: ReactMouseEvent, edge: CanvasEdge): Line | undefined => {
      const at = { x: event.clientX, y: event.clientY };
      const before = clicked.current;
      const again = before !== null && Math.hypot(at.x - before.at.x, at.y - before.at.y) < SAME_PLACE;
      const hits = root.current ? linesAt(root.current, at) : [];
      const id = meantLine(hits, again ? before.id : null) ?? edge.id;
      clicked.current = { id, at };
      return scene.line(id) ?? lineOf(edge);
    },
    [root],
  );
  /** The line whose menu is meant: the one that was clicked there, or else as a click means it. */
  const underPress = useCallback(
    ({ clientX: x, clientY: y }: ReactMouseEvent): string | null => {
      const hits = root.current ? linesAt(root.current, { x, y }) : [];
      const before = clicked.current;
      const isThere =
        before !== null &&
        Math.hypot(x - before.at.x, y - before.at.y) < SAME_PLACE &&
        hits.some(({ id }) => id === before.id);
      return isThere ? before.id : meantLine(hits, null);
    },
    [root],
  );
  const onEdgeClick = useCallback(
    (event: ReactMouseEvent, edge: CanvasEdge) => {
      if (event.shiftKey || event.ctrlKey || event.metaKey || event.detail > 1) return;
      const line = lineOf(edge) && meant(event, edge);
      if (line) selectLine(line, false);
    },
    [meant],
  );
  const onEdgeMouseEnter = useCallback((_event: unknown, edge: CanvasEdge) => {
    if (lineOf(edge)) hoverLine(edge.id);
  }, []);
  const onEdgeMouseLeave = useCallback(() => hoverLine(null), []);
  const onPaneClick = useCallback(
    (event: ReactMouseEvent) => {
      // React Flow makes this click of the end of a press.
      if (wasLongPress()) return;
      setCanvas({ lines: [], search: null, menu: null });
      const { select } = useSession.getState();
      const hit = useCanvas.getState().overview
        ? scene.nodeAt(place({ x: event.clientX, y: event.clientY }))
        : null;
      select(hit === null ? {} : { nodes: [hit] });
      root.current?.focus({ preventScroll: true });
    },
    [place, root],
  );
  const onDoubleClick = useCallback(
    (event: ReactMouseEvent) => {
      if (!(event.target as Element).classList.contains("react-flow__pane")) return;
      const screen = { x: event.clientX, y: event.clientY };
      const spot = place(screen);
      if (useCanvas.getState().overview) {
        const hit = scene.nodeAt(spot);
        const rect = hit === null ? undefined : scene.rect(hit);
        hub.centre(rect ? { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 } : spot, 1);
        return;
      }
      if (isEditable()) setCanvas({ search: { screen, place: spot, wire: null } });
    },
    [place, hub],
  );
  const menuAt = useCallback(
    (event: ReactMouseEvent | MouseEvent, what: { node?: string; line?: string }) => {
      event.preventDefault();
      const at = { x: event.clientX, y: event.clientY };
      openCanvasMenu({ at, place: place(at), ...what });
    },
    [place],
  );

  const onPaneContextMenu = useCallback((event: ReactMouseEvent | MouseEvent) => menuAt(event, {}), [menuAt]);
  const onNodeContextMenu = useCallback(
    (event: ReactMouseEvent, node: { id: string }) => menuAt(event, { node: node.id }),
    [menuAt],
  );
  const onEdgeContextMenu = useCallback(
    (event: ReactMouseEvent, edge: CanvasEdge) => menuAt(event, { line: underPress(event) ?? edge.id }),
    [menuAt, underPress],
  );
  /** Labels are drawn outside of React Flow's edges. */
  const onContextMenu = useCallback(
    (event: ReactMouseEvent) => {
      const line = (event.target as Element).closest("[data-line]")?.getAttribute("data-line");
      if (line) menuAt(event, { line });
    },
    [menuAt],
  );

  const hovered = useRef<string | null>(null);
  const onNodeMouseEnter = useCallback((event: ReactMouseEvent, node: { id: string }) => {
    hovered.current = node.id;
    if (event.shiftKey) showKeysOf(node.id);
  }, []);
  const onNodeMouseLeave = useCallback(() => {
    hovered.current = null;
    showKeysOf(null);
  }, []);
  useEffect(() => {
    const follow = (event: KeyboardEvent) => {
      if (event.key === "Shift") showKeysOf(event.type === "keydown" ? hovered.current : null);
    };
    window.addEventListener("keydown", follow);
    window.addEventListener("keyup", follow);
    return () => {
      window.removeEventListener("keydown", follow);
      window.removeEventListener("keyup", follow);
      showKeysOf(null);
    };
  }, []);

  return {
    pane: { onDoubleClick, onContextMenu },
    flow: {
      onNodeClick,
      onNodeDoubleClick,
      onEdgeClick,
      onEdgeDoubleClick,
      onNodeMouseEnter,
      onNodeMouseLeave,
      onEdgeMouseEnter,
      onEdgeMouseLeave,
      onPaneClick,
      onPaneContextMenu,
      onNodeContextMenu,
      onEdgeContextMenu,
    },
  };
}
