/**
 * The map itself: names of branches on the left, lanes on a canvas element beside them, and one element for the
 * checkpoint that has the keyboard's focus. A click moves the cursor, Ctrl and a click compare, a double click unfolds,
 * and a checkpoint that is dragged onto a node of the graph is replayed from.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type MenuEntry, PointMenu } from "../../components/Menu";
import {
  columnAt,
  type Columns,
  depthAt,
  foldedWith,
  LANE,
  type Lanes,
  nodeAt,
  walked,
  type Way,
  xOf,
} from "../../debugger/timeline/fork-map";
import {
  type Chain,
  depthOf,
  type ForkGraph,
  type ForkNode,
  tipOf,
  wayTo,
} from "../../debugger/timeline/forks";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { checkpointEntries } from "../timeline";
import { BranchRow } from "./BranchRow";
import type { Scene } from "./draw-fork-map";
import { Ghost, useDragOnto } from "./DragOnto";
import { Hover } from "./Hover";
import { describe } from "./descriptions";
import { type Inner, NestedLanes } from "./NestedLanes";
import { useMapCanvas } from "./useMapCanvas";

interface Props {
  readonly threadId: string;
  /** The newest checkpoint. */
  readonly head: string | undefined;
  readonly graph: ForkGraph;
  readonly columns: Columns;
  readonly lanes: Lanes;
  readonly inner: Inner | null;
  /** Shows the steps of these checkpoints by themselves. */
  onOpen(ids: readonly string[]): void;
}

const WAYS: Readonly<Record<string, Way>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "first",
  End: "last",
  PageUp: "pageUp",
  PageDown: "pageDown",
};

/** Branches that begin after a moment. */
function laterThan(graph: ForkGraph, cursor: ForkNode | undefined): ReadonlySet<Chain> {
  const later = new Set<Chain>();
  if (!cursor) return later;
  for (const chain of graph.chains) {
    const { from } = chain;
    if (from && (later.has(from.chain) || (from.chain === cursor.chain && from.at >= cursor.at)))
      later.add(chain);
  }
  return later;
}

export function ForkMap({ threadId, head, graph, columns, lanes, inner, onOpen }: Props) {
  const cursorId = useSession((session) => session.cursor.checkpointId);
  const comparedId = useSession(({ compareWith }) =>
    compareWith?.threadId === threadId ? compareWith.checkpointId : null,
  );
  const [focusId, setFocusId] = useState<string | null>(null);
  const [hovered, setHovered] = useState<{ node: ForkNode; x: number; y: number } | null>(null);
  const [menu, setMenu] = useState<{ x: number; y: number; entries: MenuEntry[] } | null>(null);
  const scroller = useRef<HTMLDivElement>(null);

  const cursor = graph.node(cursorId);
  const shown = cursor ?? graph.node(head);
  const innerNode = graph.node(inner?.checkpointId);
  const innerLane = innerNode && inner ? (lanes.of.get(innerNode.chain) ?? -1) : Infinity;
  const innerHeight = (inner?.lanes.length ?? 0) * LANE;
  const height = lanes.chains.length * LANE + innerHeight;

  const scene: Scene = useMemo(
    () => ({
      graph,
      columns,
      lanes,
      way: wayTo(shown),
      cursor: cursorId === null ? undefined : cursor,
      later: laterThan(graph, cursorId === null ? undefined : cursor),
      compared: graph.node(comparedId),
      hovered: hovered?.node,
      top: (lane: number) => lane * LANE + (lane > innerLane ? innerHeight : 0),
    }),
    [graph, columns, lanes, shown, cursorId, cursor, comparedId, hovered?.node, innerLane, innerHeight],
  );
  const canvas = useMapCanvas(scroller, scene);
  const drag = useDragOnto(threadId, graph);

  const rows = useVirtualizer({
    count: lanes.chains.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LANE,
    overscan: 6,
  });

  const focus = graph.node(focusId) ?? shown;
  const middleOf = useCallback(
    (node: ForkNode) => scene.top(lanes.of.get(node.chain) ?? 0) + LANE / 2,
    [scene, lanes],
  );

  /** Scrolls as little as is needed. */
  const reveal = useCallback(
    (node: ForkNode) => {
      const box = scroller.current;
      const room = canvas.current;
      if (!box || !room) return;
      const [x, y] = [xOf(columns, depthOf(node)), middleOf(node)];
      const margin = Math.min(48, room.clientWidth / 4);
      if (x - margin < box.scrollLeft) box.scrollLeft = Math.max(0, x - margin);
      else if (x + margin > box.scrollLeft + room.clientWidth) box.scrollLeft = x + margin - room.clientWidth;
      if (y - LANE < box.scrollTop) box.scrollTop = Math.max(0, y - LANE);
      else if (y + LANE > box.scrollTop + box.clientHeight) box.scrollTop = y + LANE - box.clientHeight;
    },
    [canvas, columns, middleOf],
  );
  // When the cursor moves, and when what it is on has come; not when the thread grows while somebody reads.
  const revealed = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    if (!shown || revealed.current === cursorId) return;
    revealed.current = cursorId;
    setFocusId(null);
    reveal(shown);
  }, [shown, cursorId, reveal]);

  const go = useCallback(
    (node: ForkNode) => {
      const { id } = node.checkpoint;
      setFocusId(id);
      useSession.getState().setCursor({ checkpointId: id === head ? null : id });
    },
    [head],
  );
  const compare = useCallback(
    (node: ForkNode) => useSession.getState().compare({ threadId, checkpointId: node.checkpoint.id }),
    [threadId],
  );
  const unfold = (node: ForkNode) => {
    const folded = foldedWith(columns, node);
    if (folded.length > 1) onOpen(folded.map((each) => each.checkpoint.id));
    return folded.length > 1;
  };

  /** What is drawn under the pointer. */
  const hit = (event: { clientX: number; clientY: number }): ForkNode | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    const area = scroller.current;
    if (!box || !area) return undefined;
    const [x, y] = [event.clientX - box.left + area.scrollLeft, event.clientY - box.top + area.scrollTop];
    const past = y > (innerLane + 1) * LANE ? Math.min(innerHeight, y - (innerLane + 1) * LANE) : 0;
    if (past > 0 && past < innerHeight) return undefined;
    const chain = lanes.chains[Math.floor((y - past) / LANE)];
    const column = columns.list[columnAt(columns, x)];
    if (!chain || !column || x < column.x || x > column.x + column.width) return undefined;
    return nodeAt(chain, depthAt(columns, x));
  };

  const onPointerDown = (event: PointerEvent<HTMLCanvasElement>) => {
    const node = hit(event);
    if (event.button === 0 && node && !event.ctrlKey && !event.metaKey) drag.press(event, node);
  };
  const onPointerMove = (event: PointerEvent<HTMLCanvasElement>) => {
    if (drag.move(event)) {
      if (hovered) setHovered(null);
      return;
    }
    const node = hit(event);
    if (node !== hovered?.node) setHovered(node ? { node, x: event.clientX, y: event.clientY } : null);
  };
  const onClick = (event: MouseEvent) => {
    if (drag.ended()) return;
    const node = hit(event);
    if (!node) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) compare(node);
    else go(node);
  };
  const openMenu = (node: ForkNode, x: number, y: number) => {
    setHovered(null);
    const folded = foldedWith(columns, node).length;
    const own: MenuEntry[] =
      folded > 1
        ? [
            { id: "unfold", label: t("forks.unfoldHere", { n: folded }), run: () => void unfold(node) },
            { id: "unfold-line", separator: true },
          ]
        : [];
    setMenu({
      x,
      y,
      entries: [...own, ...checkpointEntries(threadId, node.checkpoint, node.checkpoint.id === head)],
    });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (!focus) return;
    const way = WAYS[event.key];
    if (way && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      const next = walked(columns, lanes, focus, way);
      if (!next) return;
      setFocusId(next.checkpoint.id);
      reveal(next);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) compare(focus);
      else if (!unfold(focus)) go(focus);
    } else if (event.key === " ") {
      event.preventDefault();
      go(focus);
    } else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      event.preventDefault();
      const box = canvas.current?.getBoundingClientRect();
      const area = scroller.current;
      if (box && area)
        openMenu(
          focus,
          box.left + xOf(columns, depthOf(focus)) - area.scrollLeft,
          box.top + middleOf(focus) - area.scrollTop,
        );
    }
  };

  const folded = focus ? foldedWith(columns, focus) : [];
  return (
    <div
      ref={scroller}
      className="group/map relative min-h-0 flex-1 overflow-auto outline-none focus-visible:outline-offset-[-2px]"
      role="application"
      aria-roledescription={t("forks.map")}
      aria-label={t("forks.map.label", { n: lanes.chains.length })}
      aria-activedescendant={focus ? `fork-${focus.checkpoint.id}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      data-testid={forksIds.map}
      data-lanes={lanes.chains.length}
      data-columns={columns.list.length}
    >
      <div
        className="grid min-w-full grid-cols-[11rem_1fr] @3xl:grid-cols-[15rem_1fr]"
        style={{ height, width: "max-content" }}
      >
        <div className="sticky left-0 z-2 col-start-1 row-start-1 border-r border-line bg-surface-1">
          {rows.getVirtualItems().map((item) => {
            const chain = lanes.chains[item.index];
            return (
              chain && (
                <div
                  key={item.index}
                  className="absolute inset-x-0"
                  style={{ top: scene.top(item.index), height: LANE }}
                >
                  <BranchRow
                    chain={chain}
                    graph={graph}
                    shown={shown?.chain === chain}
                    tip={tipOf(chain).checkpoint}
                    onGo={go}
                    onCompare={compare}
                  />
                </div>
              )
            );
          })}
        </div>
        <canvas
          ref={canvas}
          className="sticky top-0 left-44 col-start-2 row-start-1 block self-start @3xl:left-60"
          aria-hidden
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={drag.release}
          onPointerCancel={drag.cancel}
          onPointerLeave={() => setHovered(null)}
          onClick={onClick}
          onDoubleClick={(event) => {
            const node = hit(event);
            if (node) unfold(node);
          }}
          onContextMenu={(event) => {
            event.preventDefault();
            const node = hit(event);
            if (node) openMenu(node, event.clientX, event.clientY);
          }}
          data-testid={forksIds.canvas}
        />
        <div
          className="pointer-events-none relative col-start-2 row-start-1"
          style={{ width: columns.width, minWidth: "100%" }}
        >
          {focus && (
            <div
              key={focus.checkpoint.id}
              id={`fork-${focus.checkpoint.id}`}
              role="button"
              aria-label={describe(graph, focus, folded, {
                shown: focus === shown,
                compared: focus.checkpoint.id === comparedId,
              })}
              aria-current={focus === shown || undefined}
              className="absolute size-6 -translate-1/2 rounded-full group-focus-visible/map:outline-2 group-focus-visible/map:outline-focus"
              style={
                folded.length > 1
                  ? {
                      left:
                        (xOf(columns, depthOf(folded[0] ?? focus)) +
                          xOf(columns, depthOf(folded.at(-1) ?? focus))) /
                        2,
                      top: middleOf(focus),
                      width:
                        xOf(columns, depthOf(folded.at(-1) ?? focus)) -
                        xOf(columns, depthOf(folded[0] ?? focus)) +
                        20,
                    }
                  : { left: xOf(columns, depthOf(focus)), top: middleOf(focus) }
              }
              data-testid={forksIds.item}
              data-checkpoint={focus.checkpoint.id}
              data-step={focus.checkpoint.step}
              data-mark={graph.markOf(focus)}
              data-lane={lanes.of.get(focus.chain)}
              data-folded={folded.length}
            />
          )}
          {inner && innerNode && (
            <NestedLanes
              threadId={threadId}
              inner={inner}
              x={xOf(columns, depthOf(innerNode))}
              y={(innerLane + 1) * LANE}
              onSelect={(taskId) =>
                useSession.getState().setCursor({
                  checkpointId: inner.checkpointId === head ? null : inner.checkpointId,
                  taskId,
                })
              }
            />
          )}
        </div>
      </div>
      {hovered && !menu && (
        <Hover
          threadId={threadId}
          graph={graph}
          node={hovered.node}
          folded={foldedWith(columns, hovered.node).length}
          x={hovered.x}
          y={hovered.y}
        />
      )}
      {drag.dragging && <Ghost {...drag.dragging} />}
      <PointMenu at={menu} entries={menu?.entries ?? []} onClose={() => setMenu(null)} />
    </div>
  );
}
