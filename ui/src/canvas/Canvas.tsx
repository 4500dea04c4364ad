/**
 * The graph as it is drawn and edited. React Flow is the interaction layer (ports, drags, marquee, pan and zoom); what
 * it is given is a window on the scene, and below a legible zoom nothing at all: the overview draws then.
 */
import "@xyflow/react/dist/base.css";
import "./canvas.css";
import {
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  type EdgeChange,
  type EdgeTypes,
  type NodeChange,
  type NodeTypes,
  type OnMove,
  type OnNodeDrag,
} from "@xyflow/react";
import {
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent as ReactMouseEvent,
  type PointerEvent as ReactPointerEvent,
} from "react";
import { readOverlay } from "../debugger/overlay";
import { moveNodes, spliceIntoEdge, type Point } from "../document/edits";
import { doc, edit, mark, squashFrom } from "../document/store";
import { END, START } from "../document/types";
import { shellIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { useSession } from "../state/session";
import { provideCanvas } from "./actions";
import { addFromSearch, connectFromSearch, cornerAt, freePlace, placeGraph, placeNode } from "./adding";
import { Arranging, useAutoLayout } from "./Arranging";
import { registerCanvasCommands } from "./canvas-commands";
import { CanvasMenu, openCanvasMenu } from "./CanvasMenu";
import { CanvasTools } from "./CanvasTools";
import { followClipboard } from "./clipboard";
import { EmptyCanvas, Ghost, WireGhost } from "./extras";
import { PORT_Y, union, type Rect } from "./geometry";
import { GraphJump } from "./GraphJump";
import { GraphLine } from "./GraphLine";
import { lineNear } from "./interactions/hit";
import { beginsCut, Knife } from "./interactions/knife";
import { Dots, Minimap, Overview } from "./layers";
import { EndPill, FarNode, NodeCard } from "./NodeCard";
import { scene } from "./scene";
import { selectLine } from "./selection";
import { setCanvas, STILL, useCanvas } from "./store";
import { NodeSearchSlot } from "./NodeSearchSlot";
import { useCamera } from "./useCamera";
import { type CanvasEdge, lineOf, useWindow } from "./useWindow";
import { useWires } from "./useWires";
import { ViewHub } from "./view";
import { fitView, MAX_ZOOM, MIN_ZOOM, OVERVIEW_ZOOM } from "./window";

const NODE_TYPES: NodeTypes = { card: NodeCard, pill: EndPill, far: FarNode };
const EDGE_TYPES: EdgeTypes = { line: GraphLine, jump: GraphJump };
const MULTI_KEYS = ["Shift", "Control", "Meta"];
const SNAP: [number, number] = [4, 4];
/** Middle button; with Space held the left one too. */
const PAN_BUTTONS = [1];
const PAN_BUTTONS_OVERVIEW = [0, 1];

/** `onView` gives the view away, to what measures the canvas. */
export function Canvas({ onView }: { onView?: (hub: ViewHub) => void }) {
  return (
    <ReactFlowProvider>
      <Flow {...(onView && { onView })} />
    </ReactFlowProvider>
  );
}

function Flow({ onView }: { onView?: (hub: ViewHub) => void }) {
  const root = useRef<HTMLDivElement>(null);
  const flow = useReactFlow();
  const [hub] = useState(() => new ViewHub());
  const overview = useCanvas((state) => state.overview);
  const minimap = useSession((state) => state.minimap);
  const graphId = useSession((state) => state.graphId);
  const [ready, setReady] = useState(false);
  const onInit = useCallback(() => setReady(true), []);
  const area = useCamera(hub, graphId, ready);
  const { nodes, edges } = useWindow(area, overview);

  const fit = useCallback(
    (rect?: Rect | null) =>
      hub.fit((size) => {
        const shown = rect ?? scene.bounds();
        return shown && fitView(shown, size);
      }),
    [hub],
  );

  const place = useCallback(
    (screen: Point): Point => flow.screenToFlowPosition(screen, { snapToGrid: false }),
    [flow],
  );

  const autoLayout = useAutoLayout(hub);

  const focusNode = useCallback(
    (name: string) => {
      const rect = scene.rect(name);
      if (!rect) return;
      useSession.getState().select({ nodes: [name] });
      reveal(hub, rect);
    },
    [hub],
  );

  useEffect(() => {
    const contains = (point: Point) => {
      const element = document.elementFromPoint(point.x, point.y);
      return element !== null && (root.current?.contains(element) ?? false);
    };
    return provideCanvas({
      addNodeAt: (kind, screenPoint) => {
        setCanvas({ ghost: null });
        const splice = screenPoint ? useCanvas.getState().splice : null;
        setCanvas({ splice: null });
        const name = placeNode(
          kind,
          screenPoint ? cornerAt(place(screenPoint)) : freePlace(hub.middle()),
          splice,
        );
        const rect = name === null ? undefined : scene.rect(name);
        if (rect) reveal(hub, rect);
        return name;
      },
      addGraph: (name, records) => {
        if (!placeGraph(name, records, hub.middle())) return;
        const rects = useSession.getState().selection.nodes.flatMap((each) => scene.rect(each) ?? []);
        const rect = union(rects);
        if (rect) reveal(hub, rect);
      },
      focusNode,
      focusEdge: (id) => {
        const lines = scene.linesOf(id);
        useSession.getState().select({ edges: [id] });
        setCanvas({ lines: [] });
        const rect = union(
          lines.flatMap((line) => [scene.rect(line.from) ?? [], scene.rect(line.to) ?? []].flat()),
        );
        if (rect) reveal(hub, rect);
      },
      connectFrom: (name) => {
        const rect = scene.rect(name);
        if (!rect) return;
        reveal(hub, rect);
        const spot = { x: rect.x + rect.width + 96, y: rect.y + PORT_Y };
        setCanvas({
          search: { screen: flow.flowToScreenPosition(spot), place: spot, wire: { node: name, side: "out" } },
        });
      },
      fit: () => fit(),
      autoLayout,
      dragKind: (kind, screenPoint) => {
        if (!screenPoint || !contains(screenPoint)) {
          setCanvas({ ghost: null, ...(screenPoint ? { splice: null } : {}) });
          return;
        }
        const splice = root.current ? lineNear(root.current, screenPoint, 18, () => false) : null;
        setCanvas({ ghost: { kind, place: cornerAt(place(screenPoint)) }, splice });
      },
      contains,
    });
  }, [hub, flow, place, fit, focusNode, autoLayout]);

  useEffect(() => registerCanvasCommands({ hub, fit, autoLayout, flow }), [hub, fit, autoLayout, flow]);
  useEffect(() => followClipboard(() => cornerAt(hub.middle())), [hub]);
  useFollow(hub);
  useEffect(() => onView?.(hub), [onView, hub]);

  // Selection and drags come back from React Flow as changes.
  const onNodesChange = useCallback((changes: NodeChange[]) => {
    let moving: Map<string, Point> | null = null;
    let selected: Set<string> | null = null;
    for (const change of changes) {
      if (change.type === "position" && change.position && change.dragging) {
        moving ??= new Map(useCanvas.getState().moving);
        moving.set(change.id, change.position);
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

  const onNodeDragStart = useCallback<OnNodeDrag>(() => setCanvas({ splice: null }), []);
  const spliceFrame = useRef(0);
  const onNodeDrag = useCallback<OnNodeDrag>((event, node, dragged) => {
    // A node that is connected already would tie a knot; and what is spliced is one node.
    if (dragged.length !== 1 || node.id === START || node.id === END || doc.edgesOf(node.id).length > 0)
      return;
    const point = "clientX" in event ? { x: event.clientX, y: event.clientY } : null;
    if (!point || spliceFrame.current !== 0) return;
    spliceFrame.current = requestAnimationFrame(() => {
      spliceFrame.current = 0;
      if (!root.current || useCanvas.getState().moving.size === 0) return;
      setCanvas({ splice: lineNear(root.current, point, 28, () => false) });
    });
  }, []);
  const onNodeDragStop = useCallback<OnNodeDrag>((_event, node, dragged) => {
    const { splice } = useCanvas.getState();
    const start = scene.position(node.id);
    const delta = { x: node.position.x - start.x, y: node.position.y - start.y };
    setCanvas({ moving: STILL, splice: null });
    const names = new Set([...dragged.map((each) => each.id), ...useSession.getState().selection.nodes]);
    if (!names.has(node.id)) names.clear();
    names.add(node.id);
    if (delta.x === 0 && delta.y === 0) return;
    const positions = new Map<string, Point>();
    for (const name of names) {
      const from = scene.position(name);
      if (scene.rect(name)) positions.set(name, { x: from.x + delta.x, y: from.y + delta.y });
    }
    const begin = mark();
    const name = tn("canvas.edit.move.one", "canvas.edit.move.many", positions.size, { name: node.id });
    edit(name, (document) => moveNodes(document, positions));
    const line = splice === null ? undefined : scene.line(splice);
    if (line) {
      edit(t("canvas.edit.splice"), (document) => spliceIntoEdge(document, line.edge, line.part, node.id));
      squashFrom(begin, t("canvas.edit.splice"));
    }
  }, []);

  const wires = useWires(root, place);

  // Clicks.
  const onNodeClick = useCallback((event: ReactMouseEvent, node: { id: string }) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { selection, select } = useSession.getState();
    setCanvas({ lines: [] });
    if (selection.nodes.length !== 1 || selection.nodes[0] !== node.id || selection.edges.length > 0) {
      select({ nodes: [node.id] });
    }
  }, []);
  const onNodeDoubleClick = useCallback((_event: ReactMouseEvent, node: { id: string }) => {
    if (node.id !== START && node.id !== END) setCanvas({ renaming: node.id });
  }, []);
  const onEdgeDoubleClick = useCallback((_event: ReactMouseEvent, edge: CanvasEdge) => {
    const line = lineOf(edge);
    if (line && line.label !== null && !line.isDefault)
      setCanvas({ labelEdit: { line: line.id, what: "label" } });
  }, []);
  const onEdgeClick = useCallback((event: ReactMouseEvent, edge: CanvasEdge) => {
    const line = lineOf(edge);
    if (line && !event.shiftKey && !event.ctrlKey && !event.metaKey) selectLine(line, false);
  }, []);
  const onPaneClick = useCallback(
    (event: ReactMouseEvent) => {
      setCanvas({ lines: [], search: null, menu: null });
      const { select } = useSession.getState();
      const hit = useCanvas.getState().overview
        ? scene.nodeAt(place({ x: event.clientX, y: event.clientY }))
        : null;
      select(hit === null ? {} : { nodes: [hit] });
      root.current?.focus({ preventScroll: true });
    },
    [place],
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
      setCanvas({ search: { screen, place: spot, wire: null } });
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

  // Taken on the way down, before React Flow sees the press and begins a marquee.
  const [knife, setKnife] = useState<Point | null>(null);
  const endKnife = useCallback(() => setKnife(null), []);
  const onDownCapture = useCallback((event: ReactPointerEvent) => {
    if (!beginsCut(event)) return;
    event.stopPropagation();
    setKnife({ x: event.clientX, y: event.clientY });
  }, []);
  const onMouseDownCapture = useCallback((event: ReactMouseEvent) => {
    if (!beginsCut(event)) return;
    event.stopPropagation();
    event.preventDefault();
  }, []);

  // React Flow names the event when it was a person who moved the view.
  const onMoveStart = useCallback<OnMove>((event) => event && hub.moved(), [hub]);

  const defaultViewport = useMemo(() => ({ x: 0, y: 0, zoom: 1 }), []);
  return (
    <div
      ref={root}
      className="canvas"
      data-canvas
      data-overview={overview || undefined}
      tabIndex={0}
      role="group"
      aria-label={t("canvas.label")}
      data-testid={shellIds.canvas}
      onDoubleClick={onDoubleClick}
      onContextMenu={(event) => {
        // Labels are drawn outside of React Flow's edges.
        const line = (event.target as Element).closest("[data-line]")?.getAttribute("data-line");
        if (line) menuAt(event, { line });
      }}
      onPointerDownCapture={onDownCapture}
      onMouseDownCapture={onMouseDownCapture}
    >
      <Dots hub={hub} />
      {overview && <Overview hub={hub} />}
      <ReactFlow<(typeof nodes)[number], CanvasEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={onNodeDragStart}
        onNodeDrag={onNodeDrag}
        onNodeDragStop={onNodeDragStop}
        {...wires}
        reconnectRadius={14}
        connectionRadius={28}
        onNodeClick={onNodeClick}
        onNodeDoubleClick={onNodeDoubleClick}
        onEdgeClick={onEdgeClick}
        onEdgeDoubleClick={onEdgeDoubleClick}
        onPaneClick={onPaneClick}
        onPaneContextMenu={(event) => menuAt(event, {})}
        onNodeContextMenu={(event, node) => menuAt(event, { node: node.id })}
        onEdgeContextMenu={(event, edge) => menuAt(event, { line: edge.id })}
        defaultViewport={defaultViewport}
        minZoom={MIN_ZOOM}
        maxZoom={MAX_ZOOM}
        snapToGrid
        snapGrid={SNAP}
        panOnScroll
        panOnScrollSpeed={1}
        panOnDrag={overview ? PAN_BUTTONS_OVERVIEW : PAN_BUTTONS}
        selectionOnDrag={!overview}
        selectionMode={SelectionMode.Partial}
        selectionKeyCode={null}
        multiSelectionKeyCode={MULTI_KEYS}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        disableKeyboardA11y
        nodesFocusable={false}
        edgesFocusable={false}
        autoPanOnNodeFocus={false}
        elevateNodesOnSelect
        connectOnClick={false}
        attributionPosition="top-right"
        onInit={onInit}
        onMoveStart={onMoveStart}
      >
        <Ghost />
        <WireGhost />
      </ReactFlow>
      {knife && <Knife root={root} from={knife} onEnd={endKnife} />}
      <EmptyCanvas />
      {minimap && <Minimap hub={hub} />}
      <CanvasTools hub={hub} />
      <Arranging />
      <CanvasMenu />
      <NodeSearchSlot onPick={addFromSearch} onConnectTo={connectFromSearch} />
    </div>
  );
}

/** Brings a rectangle into view with the smallest move; the zoom stays when it can. */
function reveal(hub: ViewHub, rect: Rect): void {
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
  if (dx !== 0 || dy !== 0) hub.move({ x: viewport.x + dx, y: viewport.y + dy, zoom: viewport.zoom });
}

/** The camera keeps still during a run, unless it is told to follow. */
function useFollow(hub: ViewHub): void {
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
