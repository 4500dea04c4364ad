/** Wires that are drawn from a port, and ends of edges that are dragged elsewhere. */
import type {
  Connection,
  HandleType,
  OnConnectEnd,
  OnConnectStart,
  OnReconnect,
  ReactFlowProps,
} from "@xyflow/react";
import { useCallback, useMemo, useRef, type RefObject } from "react";
import { canConnect, type Point } from "../document/edits";
import { type Leaving, leavingBy, moveLine } from "../document/ports";
import { edit } from "../document/edit";
import { t } from "../lib/texts";
import { useCanvasSettings } from "../state/canvas-settings";
import { chooseWay, connectBy, connectNodes } from "./adding";
import type { WireEnd } from "../document/wire-fit";
import { setCanvas, useCanvas } from "./store";
import { type CanvasEdge, lineOf } from "./useWindow";
import type { Line } from "./lines";
import { beginHead, beginMove, beginWire, endMove, endWire, refuse } from "./wiring";

type Wires = Pick<
  ReactFlowProps<never, CanvasEdge>,
  | "onConnect"
  | "onConnectStart"
  | "onConnectEnd"
  | "isValidConnection"
  | "onReconnect"
  | "onReconnectStart"
  | "onReconnectEnd"
>;

const move = (line: Line, ends: { from: string; port: string | null; to: string }) =>
  void edit(t("canvas.edit.reconnect"), (document) => moveLine(document, line.edge, line.part, ends));

export function useWires(root: RefObject<HTMLElement | null>, place: (screen: Point) => Point): Wires {
  /** The line whose end is being dragged; null while a new wire is drawn. */
  const dragged = useRef<Line | null>(null);

  const dropped = useRef<Point>({ x: 0, y: 0 });

  const onConnect = useCallback(({ source, sourceHandle, target }: Connection) => {
    if (sourceHandle === null) {
      // The choice opens where the wire was dropped, which is known after this.
      setTimeout(() => connectNodes(source, target, dropped.current));
    } else connectBy(source, leavingBy(sourceHandle), target);
  }, []);
  const onConnectStart = useCallback<OnConnectStart>(
    (event, { nodeId, handleId, handleType }) => {
      if (nodeId === null) return;
      const end = endAt(nodeId, handleType, handleId);
      // With Shift all wires of the port are taken; where there are none a new one is drawn.
      const taken =
        dragged.current === null &&
        (event.shiftKey
          ? beginMove(nodeId, end.side, handleId)
          : end.side === "in" && beginHead(nodeId, place(pointOf(event) ?? { x: Infinity, y: 0 })));
      if (!taken) beginWire(end, dragged.current);
    },
    [place],
  );
  const isValidConnection = useCallback((connection: { source: string; target: string }) => {
    const { wiring } = useCanvas.getState();
    if (!wiring) return canConnect(connection.source, connection.target);
    // Wires that move together are dropped on a card, whichever of its ports is nearest.
    if (wiring.carried.length > 0) return false;
    return wiring.refusal(wiring.side === "out" ? connection.target : connection.source) === null;
  }, []);
  const onConnectEnd = useCallback<OnConnectEnd>(
    (event, state) => {
      const { wiring } = useCanvas.getState();
      endWire();
      const screen = pointOf(event);
      if (screen) dropped.current = screen;
      if (!wiring || !state.fromHandle || !screen || (state.toHandle && state.isValid === true)) return;
      const { side, node: from, carried } = wiring;
      const port = side === "out" ? (state.fromHandle.id ?? null) : null;
      const line = dragged.current;
      // A card is one large target: the port need not be hit.
      const same = state.toHandle?.type === state.fromHandle.type;
      const meant = same === carried.length > 0 ? state.toNode?.id : undefined;
      const under = nodeUnder(screen) ?? meant;
      if (under !== undefined) {
        const refusal = wiring.refusal(under);
        if (under === from && under !== meant) return;
        if (refusal !== null) refuse(refusal);
        else if (carried.length > 0) endMove(carried, side, under, portUnder(screen));
        else if (line) {
          const { from: source, port: way, to } = line;
          move(
            line,
            side === "out" ? { from: source, port: way, to: under } : { from: under, port: null, to },
          );
        } else if (port !== null) connectBy(from, leavingBy(port), under);
        else if (side === "out") connectNodes(from, under, screen);
        else connectNodes(under, from, screen);
        return;
      }
      // An end that is dropped beside every node goes back to where it was.
      if (
        line ||
        carried.length > 0 ||
        !root.current?.contains(document.elementFromPoint(screen.x, screen.y))
      )
        return;
      const { drop, dropShift } = useCanvasSettings.getState();
      const action = event.shiftKey ? dropShift : drop;
      if (action === "nothing") return;
      const open = (leaving?: Leaving) => {
        const wire = { node: from, side, ...(leaving && { leaving }) };
        setCanvas({ search: { screen, place: place(screen), wire, usual: action === "menu" } });
      };
      if (port !== null) open(leavingBy(port));
      else if (side === "out") chooseWay(from, screen, null, open);
      else open();
    },
    [root, place],
  );
  const onReconnectStart = useCallback((_event: unknown, edge: CanvasEdge) => {
    dragged.current = lineOf(edge) ?? null;
  }, []);
  const onReconnectEnd = useCallback(() => {
    dragged.current = null;
  }, []);
  const onReconnect = useCallback<OnReconnect<CanvasEdge>>((old, next) => {
    const line = lineOf(old);
    if (line) move(line, { from: next.source, port: next.sourceHandle, to: next.target });
  }, []);

  return useMemo(
    () => ({
      onConnect,
      onConnectStart,
      isValidConnection,
      onConnectEnd,
      onReconnectStart,
      onReconnectEnd,
      onReconnect,
    }),
    [
      onConnect,
      onConnectStart,
      isValidConnection,
      onConnectEnd,
      onReconnectStart,
      onReconnectEnd,
      onReconnect,
    ],
  );
}

/** The fixed end of a wire that is drawn from a port. */
function endAt(node: string, type: HandleType | null, port: string | null): WireEnd {
  if (type !== "source") return { node, side: "in" };
  return { node, side: "out", ...(port !== null && { leaving: leavingBy(port) }) };
}

/** The way whose port is at a point; null for none. */
function portUnder(screen: Point): string | null {
  const element = document.elementFromPoint(screen.x, screen.y);
  return element?.closest(".react-flow__handle.source")?.getAttribute("data-handleid") ?? null;
}

function nodeUnder(screen: Point): string | undefined {
  const element = document.elementFromPoint(screen.x, screen.y);
  return element?.closest(".react-flow__node")?.getAttribute("data-id") ?? undefined;
}

function pointOf(event: MouseEvent | TouchEvent): Point | null {
  if ("clientX" in event) return { x: event.clientX, y: event.clientY };
  const touch = event.changedTouches[0];
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}
