/** What other parts of the window ask of the canvas: to show, add, connect and arrange. */
import type { useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, type RefObject } from "react";
import type { Point } from "../document/edits";
import { doc } from "../document/store";
import { edgeOf } from "../document/types";
import { useSession } from "../state/session";
import { provideCanvas } from "./actions";
import { chooseWay, cornerAt, freePlace, placeGraph, placeNode } from "./adding";
import { useAutoLayout } from "./Arranging";
import { registerCanvasCommands } from "./canvas-commands";
import { followClipboard } from "./clipboard";
import { unfoldAround } from "./folds";
import { PORT_Y, union, type Rect } from "./geometry";
import { lineNear } from "./interactions/hit";
import { reveal } from "./reveal";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import type { ViewHub } from "./view";
import { fitView } from "./viewport";

export function useCanvasActions(
  root: RefObject<HTMLDivElement | null>,
  hub: ViewHub,
  flow: ReturnType<typeof useReactFlow>,
  place: (screen: Point) => Point,
): void {
  const fit = useCallback(
    (rect?: Rect | null) =>
      hub.fit((size) => {
        const shown = rect ?? scene.bounds();
        return shown && fitView(shown, size);
      }),
    [hub],
  );

  const autoLayout = useAutoLayout(hub);

  const focusNode = useCallback(
    (name: string) => {
      unfoldAround(name);
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
      addNodeAt: (kind, screenPoint, config) => {
        setCanvas({ ghost: null });
        const splice = screenPoint ? useCanvas.getState().splice : null;
        setCanvas({ splice: null });
        const name = placeNode(
          kind,
          screenPoint ? cornerAt(place(screenPoint)) : freePlace(hub.middle()),
          splice,
          config,
        );
        const rect = name === null ? undefined : scene.rect(name);
        if (rect) reveal(hub, rect);
        return name;
      },
      addGraph: (name, records, as = "pattern") => {
        if (!placeGraph(name, records, hub.middle(), as)) return;
        const rects = useSession.getState().selection.nodes.flatMap((each) => scene.rect(each) ?? []);
        const rect = union(rects);
        if (rect) reveal(hub, rect);
      },
      focusNode,
      focusEdge: (id) => {
        // An edge between nodes of one folded frame is not drawn.
        const { sources, targets } = edgeOf(doc.get(`edge:${id}`));
        for (const name of scene.linesOf(id).length === 0 ? [...sources, ...targets] : []) unfoldAround(name);
        const lines = scene.linesOf(id);
        useSession.getState().select({ edges: [id] });
        setCanvas({ lines: [] });
        const rect = union(
          lines.flatMap((line) => [scene.rect(line.from) ?? [], scene.rect(line.to) ?? []].flat()),
        );
        if (rect) reveal(hub, rect);
      },
      showNode: (name) => {
        const rect = scene.rect(name);
        if (rect) reveal(hub, rect, true);
      },
      connectFrom: (name) => {
        const rect = scene.rect(name);
        if (!rect) return;
        reveal(hub, rect);
        const spot = { x: rect.x + rect.width + 96, y: rect.y + PORT_Y };
        const screen = flow.flowToScreenPosition(spot);
        chooseWay(name, screen, null, (leaving) =>
          setCanvas({
            search: { screen, place: spot, wire: { node: name, side: "out", ...(leaving && { leaving }) } },
          }),
        );
      },
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
  }, [root, hub, flow, place, focusNode]);

  useEffect(() => registerCanvasCommands({ hub, fit, autoLayout, flow }), [hub, fit, autoLayout, flow]);
  useEffect(() => followClipboard(() => cornerAt(hub.middle())), [hub]);
}
