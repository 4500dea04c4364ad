/** What can be done to the graph by name and by key while the canvas is on screen. */
import type { ReactFlowInstance } from "@xyflow/react";
import { beforeNode, runTo } from "../debugger/run/actions";
import { cannotEdit, useOnlyRead } from "../debugger/model/only-read";
import { toggleBreakpoint } from "../debugger/run/breakpoints";
import { deleteAndJoin, moveNodes, type Point } from "../document/edits";
import { ERROR_PORT } from "../document/error-ways";
import { nestedGraphOf, openNestedGraph } from "../document/nested-graphs";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { edgeOf, END, nodeOf, NOTE, START } from "../document/types";
import { t, tn } from "../lib/texts";
import { registerCommands, type Command } from "../state/commands";
import { useSession } from "../state/session";
import { addAfter, cornerAt, frameAround, freePlace } from "./adding";
import {
  copySelection,
  cutSelection,
  deleteSelection,
  duplicateSelection,
  pasteOrSay,
  readClipboard,
  writeClipboard,
} from "./clipboard";
import { notePlaced } from "./by-hand";
import { union, type Rect } from "./geometry";
import { isExpandable, toggleExpanded } from "./expansions";
import { deleteEverywhere, toggleEverywhere } from "./records";
import { someFolded, toggleFolds, unfoldAll } from "./folds";
import { isFrame, withHeld } from "./notes";
import { scene } from "./scene";
import { selectionCommands } from "./selection-commands";
import type { AutoLayout } from "./Arranging";
import { isMinimapShown, setCanvas, useCanvas } from "./store";
import type { ViewHub } from "./view";
import { walk, type Direction } from "./keyboard-navigation";
import { MAX_ZOOM, MIN_ZOOM } from "./viewport";

interface Context {
  readonly hub: ViewHub;
  readonly fit: (rect?: Rect | null) => void;
  readonly autoLayout: AutoLayout;
  readonly flow: ReactFlowInstance;
}

const selection = () => useSession.getState().selection;
/** Selected nodes that a run comes to. */
const runNodes = () => ownNodes().filter((name) => nodeOf(doc.get(`node:${name}`)).kind !== NOTE);
/** Where a run to the selected node, or over the selected edge, stops. */
const stopsOfSelection = () => {
  const [node, ...more] = runNodes();
  const [edge] = selection().edges;
  if (node !== undefined) return more.length === 0 ? beforeNode(node) : [];
  const { sources, targets } = edgeOf(edge === undefined ? undefined : doc.get(`edge:${edge}`));
  return sources
    .filter((from) => from !== START)
    .flatMap((from) => targets.map((to) => ({ when: "edge" as const, node: from, to })));
};
const ownNodes = () =>
  selection().nodes.filter((name) => name !== START && name !== END && doc.has(`node:${name}`));

export function registerCanvasCommands({ hub, fit, autoLayout, flow }: Context): () => void {
  const group = t("shell.group.edit");
  const view = t("shell.group.view");
  const anything = () => selection().nodes.length > 0 || selection().edges.length > 0;
  const someNodes = () => ownNodes().length > 0;

  const zoomBy = (factor: number) => {
    const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, hub.viewport.zoom * factor));
    hub.centre(hub.middle(), zoom);
  };
  /** A graph that has just been opened is not where it will be shown yet. */
  const onScreen = (point: Point): Point => {
    const [shown, origin, next] = [flow.getViewport(), flow.flowToScreenPosition({ x: 0, y: 0 }), hub.next];
    return {
      x: origin.x - shown.x + next.x + point.x * next.zoom,
      y: origin.y - shown.y + next.y + point.y * next.zoom,
    };
  };
  const openSearch = () => {
    const [only] = selection().nodes;
    const rect = only !== undefined && selection().nodes.length === 1 ? scene.rect(only) : undefined;
    const place: Point = rect
      ? { x: rect.x + rect.width + 96, y: rect.y + rect.height / 2 }
      : (({ x, y }) => ({ x: x + 108, y: y + 22 }))(freePlace(hub.middle()));
    const screen = onScreen(place);
    if (rect && only !== undefined && only !== END) addAfter(only, null, screen);
    else setCanvas({ search: { screen, place, wire: null } });
  };
  const go = (direction: Direction) => {
    const next = walk(scene, selection().nodes.at(-1) ?? null, direction);
    if (next === null) return;
    setCanvas({ lines: [] });
    useSession.getState().select({ nodes: [next] });
    const rect = scene.rect(next);
    if (!rect) return;
    const { viewport, size } = hub;
    const x = rect.x * viewport.zoom + viewport.x;
    const y = rect.y * viewport.zoom + viewport.y;
    const inside =
      x > 0 &&
      y > 0 &&
      x + rect.width * viewport.zoom < size.width &&
      y + rect.height * viewport.zoom < size.height;
    if (!inside) hub.centre({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 });
  };
  const selectedFrames = () => selection().nodes.filter((name) => isFrame(doc, name));
  const nudge = (dx: number, dy: number) => {
    const names = [...withHeld(scene, selection().nodes)];
    const positions = new Map(
      names.map((name) => [name, { x: scene.position(name).x + dx, y: scene.position(name).y + dy }]),
    );
    const name = tn("canvas.edit.move.one", "canvas.edit.move.many", names.length, { name: names[0] ?? "" });
    edit(name, (document) => moveNodes(document, positions), { merge: `nudge:${names.join()}` });
    notePlaced(doc, names);
  };
  const walking = (direction: Direction): Command => ({
    id: `walk.${direction}`,
    title: t(`canvas.walk.${direction}`),
    group: view,
    hidden: true,
    run: () => go(direction),
  });
  const nudging = (direction: Direction, dx: number, dy: number): Command => ({
    id: `nudge.${direction}`,
    title: t(`canvas.nudge.${direction}`),
    group,
    hidden: true,
    enabled: () => selection().nodes.length > 0,
    run: () => nudge(dx, dy),
  });

  return registerCommands([
    { id: "edit.addNode", title: t("canvas.command.add"), group, run: openSearch },
    {
      id: "edit.addErrorHandler",
      title: t("canvas.menu.addErrorHandler"),
      group,
      enabled: () => runNodes().length === 1,
      run: () => {
        const [name = ""] = runNodes();
        const at = scene.portPoint(name, ERROR_PORT);
        if (at) addAfter(name, ERROR_PORT, flow.flowToScreenPosition(at));
      },
    },
    {
      id: "edit.selectAll",
      title: t("canvas.menu.selectAll"),
      group,
      run: () =>
        useSession.getState().select({ nodes: [...doc.names("node")], edges: [...doc.names("edge")] }),
    },
    {
      id: "edit.copy",
      title: t("canvas.menu.copy"),
      group,
      enabled: someNodes,
      run: () => writeClipboard(copySelection()),
    },
    {
      id: "edit.cut",
      title: t("canvas.menu.cut"),
      group,
      enabled: someNodes,
      run: () => writeClipboard(cutSelection()),
    },
    {
      id: "edit.paste",
      title: t("canvas.menu.paste"),
      group,
      run: () => void readClipboard().then((text) => pasteOrSay(text, cornerAt(hub.middle()))),
    },
    {
      id: "edit.pasteConnected",
      title: t("canvas.menu.pasteConnected"),
      group,
      run: () => void readClipboard().then((text) => pasteOrSay(text, cornerAt(hub.middle()), true)),
    },
    {
      id: "edit.duplicate",
      title: t("canvas.menu.duplicate"),
      group,
      enabled: someNodes,
      run: duplicateSelection,
    },
    {
      id: "edit.delete",
      title: t("canvas.menu.delete"),
      group,
      enabled: anything,
      run: () => deleteSelection(),
    },
    {
      id: "edit.deleteJoin",
      title: t("canvas.menu.deleteJoin"),
      group,
      enabled: someNodes,
      run: () => {
        const nodes = ownNodes();
        deleteEverywhere(t("canvas.edit.deleteJoin"), { nodes }, (document) =>
          deleteAndJoin(document, nodes),
        );
      },
    },
    {
      id: "graph.openNested",
      title: t("canvas.command.openNested"),
      group,
      enabled: () =>
        useSession.getState().use === "design" &&
        ownNodes().length === 1 &&
        nestedGraphOf(ownNodes()[0] ?? "") !== null,
      run: () => void openNestedGraph(ownNodes()[0] ?? ""),
    },
    {
      id: "edit.disable",
      title: t("disabled.toggle"),
      group,
      enabled: () => runNodes().length > 0,
      run: () => toggleEverywhere(runNodes()),
    },
    {
      id: "edit.frame",
      title: t("notes.frame"),
      group,
      enabled: () => selection().nodes.some((name) => scene.rect(name)),
      run: () => {
        const around = union(
          selection().nodes.flatMap((name) => (scene.liesBehind(name) ? [] : (scene.rect(name) ?? []))),
        );
        if (around) frameAround(around);
      },
    },
    {
      id: "view.foldFrame",
      title: t("folds.toggle"),
      group: view,
      enabled: () => selectedFrames().length > 0,
      run: () => toggleFolds(selectedFrames()),
    },
    {
      id: "view.expandNode",
      title: t("expand.toggle"),
      group: view,
      enabled: () => ownNodes().some(isExpandable),
      run: () => toggleExpanded(ownNodes()),
    },
    {
      id: "view.unfoldFrames",
      title: t("folds.unfoldAll"),
      group: view,
      enabled: someFolded,
      run: unfoldAll,
    },
    {
      id: "edit.rename",
      title: t("canvas.menu.rename"),
      group,
      enabled: () => ownNodes().length === 1 && useDocumentState.getState().seen === null,
      run: () => setCanvas({ renaming: ownNodes()[0] ?? null }),
    },
    {
      id: "edit.escape",
      title: t("canvas.command.escape"),
      group,
      hidden: true,
      // One level at a time: the search closes itself, then the selection goes.
      enabled: () => anything() || useCanvas.getState().search !== null || selection().key !== null,
      run: () => {
        if (useCanvas.getState().search !== null) setCanvas({ search: null });
        else {
          setCanvas({ lines: [] });
          useSession.getState().select({});
        }
      },
    },
    {
      id: "debug.breakpoint",
      title: t("canvas.break.before"),
      group: t("shell.group.debug"),
      enabled: () => runNodes().length > 0 && !cannotEdit(useOnlyRead.getState()),
      run: () => runNodes().forEach((name) => toggleBreakpoint(name, "before")),
    },
    {
      id: "debug.runTo",
      title: t("debug.runTo"),
      group: t("shell.group.debug"),
      enabled: () => stopsOfSelection().length > 0 && !cannotEdit(useOnlyRead.getState()),
      run: () => void runTo(stopsOfSelection()),
    },
    { id: "view.fit", title: t("shell.menu.fit"), group: view, run: () => fit() },
    {
      id: "view.fitSelection",
      title: t("canvas.command.fitSelection"),
      group: view,
      enabled: () => selection().nodes.length > 0,
      run: () => fit(union(selection().nodes.flatMap((name) => scene.rect(name) ?? []))),
    },
    {
      id: "view.actualSize",
      title: t("canvas.actualSize"),
      group: view,
      run: () => hub.centre(hub.middle(), 1),
    },
    { id: "view.zoomIn", title: t("canvas.zoomIn"), group: view, run: () => zoomBy(1.25) },
    { id: "view.zoomOut", title: t("canvas.zoomOut"), group: view, run: () => zoomBy(0.8) },
    {
      id: "view.layout",
      title: t("shell.menu.layout"),
      group: view,
      enabled: () => doc.names("node").length > 0,
      run: () => void autoLayout(),
    },
    {
      id: "view.layoutAll",
      title: t("canvas.command.layoutAll"),
      group: view,
      enabled: () => doc.names("node").length > 0,
      run: () => void autoLayout({ all: true }),
    },
    {
      id: "view.layoutDown",
      title: t("shell.menu.layoutDown"),
      group: view,
      enabled: () => doc.names("node").length > 0,
      run: () => void autoLayout({ down: true }),
    },
    {
      id: "view.layoutSelection",
      title: t("canvas.command.layoutSelection"),
      group: view,
      enabled: () => selection().nodes.length > 1,
      run: () => void autoLayout({ names: selection().nodes.filter((name) => scene.rect(name)) }),
    },
    {
      id: "view.minimap",
      title: t("canvas.command.minimap"),
      group: view,
      run: () => useSession.getState().setMinimap(!isMinimapShown()),
    },
    ...selectionCommands(),
    walking("left"),
    walking("right"),
    walking("up"),
    walking("down"),
    nudging("left", -8, 0),
    nudging("right", 8, 0),
    nudging("up", 0, -8),
    nudging("down", 0, 8),
  ]);
}
