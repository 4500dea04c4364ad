/** Wires that are drawn from a port, and ends of edges that are dragged elsewhere. */
import type { Connection, OnConnectEnd, OnReconnect, ReactFlowProps } from "@xyflow/react";
import { useCallback, useMemo, useRef, type RefObject } from "react";
import { canConnect, type Point } from "../document/edits";
import { type Leaving, leavingBy, moveLine } from "../document/ports";
import { edit } from "../document/store";
import { t } from "../lib/texts";
import { chooseWay, connectBy, connectNodes } from "./adding";
import { setCanvas } from "./store";
import { type CanvasEdge, lineOf } from "./useWindow";
import type { Line } from "./lines";

type Wires = Pick<
  ReactFlowProps<never, CanvasEdge>,
  "onConnect" | "onConnectEnd" | "isValidConnection" | "onReconnect" | "onReconnectStart" | "onReconnectEnd"
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
  const isValidConnection = useCallback(
    (connection: { source: string; target: string }) => canConnect(connection.source, connection.target),
    [],
  );
  const onConnectEnd = useCallback<OnConnectEnd>(
    (event, state) => {
      const screen = pointOf(event);
      if (screen) dropped.current = screen;
      if (state.toHandle || !state.fromNode || !state.fromHandle || !screen) return;
      const port = state.fromHandle.type === "source" ? (state.fromHandle.id ?? null) : null;
      const side = state.fromHandle.type === "source" ? "out" : "in";
      const from = state.fromNode.id;
      const line = dragged.current;
      // A card is one large target: the port need not be hit.
      const under = document
        .elementFromPoint(screen.x, screen.y)
        ?.closest(".react-flow__node")
        ?.getAttribute("data-id");
      if (under) {
        if (under === from) return;
        if (line) {
          const { from: source, port: way, to } = line;
          move(
            line,
            side === "out" ? { from: source, port: way, to: under } : { from: under, port: null, to },
          );
          return;
        }
        const [source, target] = side === "out" ? [from, under] : [under, from];
        if (port !== null) connectBy(source, leavingBy(port), target);
        else connectNodes(source, target, screen);
        return;
      }
      // An end that is dropped beside every node goes back to where it was.
      if (line || !root.current?.contains(document.elementFromPoint(screen.x, screen.y))) return;
      const open = (leaving?: Leaving) =>
        setCanvas({
          search: { screen, place: place(screen), wire: { node: from, side, ...(leaving && { leaving }) } },
        });
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
    () => ({ onConnect, isValidConnection, onConnectEnd, onReconnectStart, onReconnectEnd, onReconnect }),
    [onConnect, isValidConnection, onConnectEnd, onReconnectStart, onReconnectEnd, onReconnect],
  );
}

function pointOf(event: MouseEvent | TouchEvent): Point | null {
  if ("clientX" in event) return { x: event.clientX, y: event.clientY };
  const touch = event.changedTouches[0];
  return touch ? { x: touch.clientX, y: touch.clientY } : null;
}
