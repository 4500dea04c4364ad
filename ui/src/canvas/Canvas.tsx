/**
 * The graph as it is drawn and edited. React Flow is the interaction layer (ports, drags, marquee, pan and zoom); what
 * it is given is a window on the scene, and below a legible zoom nothing at all: the overview draws then.
 */
import {
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  useStoreApi,
  type EdgeTypes,
  type NodeProps,
  type NodeTypes,
  type OnMove,
} from "@xyflow/react";
import { memo, useCallback, useMemo, useRef, useState, type ComponentType } from "react";
import type { Point } from "../document/edits";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { addFromSearch, connectFromSearch } from "./adding";
import { Arranging } from "./Arranging";
import { CarriedLines } from "./CarriedLines";
import { CanvasMenu } from "./CanvasMenu";
import { CanvasTools } from "./CanvasTools";
import { ExpandedCard } from "./ExpandedCard";
import { EmptyCanvas, Ghost, WireGhost } from "./extras";
import { GraphJump } from "./GraphJump";
import { GraphLine } from "./GraphLine";
import { HiddenWires } from "./HiddenWires";
import { Knife } from "./interactions/knife";
import { Dots, Minimap, Overview } from "./layers";
import { EndPill, NodeCard } from "./NodeCard";
import { NoteCard } from "./NoteCard";
import { type NodeSearchProps, NodeSearchSlot } from "./NodeSearchSlot";
import { SeenNote } from "./SeenNote";
import { useFollow, useSelectedTask, useUndone } from "./reveal";
import { useCanvas, useMinimap } from "./store";
import { useCamera } from "./useCamera";
import { useCanvasActions } from "./useCanvasActions";
import { useChanges } from "./useChanges";
import { useClicks } from "./useClicks";
import { useDrag } from "./useDrag";
import { useGrid } from "./useGrid";
import { useKnife } from "./useKnife";
import { type CanvasEdge, type CanvasNode, useWindow } from "./useWindow";
import { useWires } from "./useWires";
import { ViewHub } from "./view";
import { WaysMenu } from "./WaysMenu";
import { WireHint } from "./WireHint";
import { MAX_ZOOM, MIN_ZOOM } from "./viewport";
import { canvasClass } from "./recipes";

const NODES = {
  card: NodeCard,
  expanded: ExpandedCard,
  pill: EndPill,
  note: NoteCard,
  frame: NoteCard,
};
const NODE_TYPES: NodeTypes = {
  node: memo(function AnyNode(props: NodeProps<CanvasNode>) {
    const Drawn = NODES[props.data.drawn];
    return <Drawn {...props} />;
  }),
};
const EDGE_TYPES: EdgeTypes = { line: GraphLine, jump: GraphJump };
const MULTI_KEYS = ["Shift", "Control", "Meta"];
/** Middle button; with Space held the left one too. */
const PAN_BUTTONS = [1];
const PAN_BUTTONS_OVERVIEW = [0, 1];

/** A wire that is refused, or would make two nodes of a step write one key. */
const REFUSED_LINE = { stroke: "var(--failed)", strokeDasharray: "6 4" };

const NAMED_ELSEWHERE = { hideAttribution: true };

interface Props {
  /** The search for a node to add, which the palette draws. */
  readonly NodeSearch: ComponentType<NodeSearchProps>;
}

export function Canvas(props: Props) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

/**
 * Keeps React Flow from measuring what it mounts: sizes and ports come with each node, and a card that was measured would be
 * rendered twice, with all lines at it.
 */
function useKnownSizes(): void {
  const store = useStoreApi();
  useState(() => store.setState({ updateNodeInternals: () => {} }));
}

function Flow({ NodeSearch }: Props) {
  useKnownSizes();
  const root = useRef<HTMLDivElement>(null);
  const flow = useReactFlow();
  const [hub] = useState(() => new ViewHub());
  const overview = useCanvas((state) => state.overview);
  const drawing = useCanvas((state) => state.drawing);
  const small = useCanvas((state) => state.small);
  const refusing = useCanvas((state) => state.refusing);
  const wiring = useCanvas((state) => state.wiring?.side);
  const carrying = useCanvas((state) => state.wiring !== null && state.wiring.carried.length > 0);
  const graphId = useSession((state) => state.graphId);
  const [ready, setReady] = useState(false);
  const onInit = useCallback(() => setReady(true), []);
  const area = useCamera(root, hub, graphId, ready);
  const { nodes, edges, missing } = useWindow(area, overview);

  const place = useCallback(
    (screen: Point): Point => flow.screenToFlowPosition(screen, { snapToGrid: false }),
    [flow],
  );

  useCanvasActions(root, hub, flow, place);
  useFollow(hub);
  useSelectedTask(hub);
  useUndone(hub);

  const changes = useChanges();
  const grid = useGrid();
  const drag = useDrag(root);
  const wires = useWires(root, place);
  const clicks = useClicks(root, hub, place);
  const { knife, endKnife, onPress } = useKnife();

  // React Flow names the event when it was a person who moved the view.
  const onMoveStart = useCallback<OnMove>((event) => event && hub.moved(), [hub]);

  const defaultViewport = useMemo(() => ({ x: 0, y: 0, zoom: 1 }), []);
  return (
    <div
      ref={root}
      className={canvasClass}
      data-canvas
      data-overview={overview || undefined}
      data-drawing={drawing}
      data-small={small || undefined}
      data-wiring={wiring}
      tabIndex={0}
      role="group"
      aria-label={t("canvas.label")}
      data-testid={shellIds.canvas}
      {...clicks.pane}
      {...onPress}
    >
      <Dots hub={hub} />
      {/* Stands in for the cards that are not mounted yet. */}
      {(overview || missing) && <Overview hub={hub} />}
      <ReactFlow<(typeof nodes)[number], CanvasEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        {...changes}
        {...drag}
        {...wires}
        {...(carrying && { connectionLineComponent: CarriedLines })}
        {...(refusing && { connectionLineStyle: REFUSED_LINE })}
        reconnectRadius={14}
        connectionRadius={28}
        {...clicks.flow}
        defaultViewport={defaultViewport}
        minZoom={MIN_ZOOM}
        maxZoom={MAX_ZOOM}
        {...grid}
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
        // It is named among the tools: at the border it lay over ports and cards.
        proOptions={NAMED_ELSEWHERE}
        onInit={onInit}
        onMoveStart={onMoveStart}
      >
        <Within hub={hub} />
      </ReactFlow>
      {knife && <Knife root={root} from={knife} onEnd={endKnife} />}
      <Around hub={hub} NodeSearch={NodeSearch} />
    </div>
  );
}

/** What is drawn in the graph's own coordinates besides nodes and lines. */
const Within = memo(function Within({ hub }: { hub: ViewHub }) {
  return (
    <>
      <Ghost />
      <WireGhost />
      <WireHint hub={hub} />
    </>
  );
});

/** What stands over the graph and does not follow what of it is mounted. */
const Around = memo(function Around({ hub, NodeSearch }: Props & { readonly hub: ViewHub }) {
  const minimap = useMinimap();
  return (
    <>
      <EmptyCanvas />
      <SeenNote />
      {minimap && <Minimap hub={hub} />}
      <CanvasTools hub={hub} />
      <HiddenWires />
      <Arranging />
      <CanvasMenu />
      <WaysMenu />
      <NodeSearchSlot NodeSearch={NodeSearch} onPick={addFromSearch} onConnectTo={connectFromSearch} />
    </>
  );
});
