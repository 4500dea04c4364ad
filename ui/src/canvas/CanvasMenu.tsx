/** What a right click offers: over a node, a line, or the empty canvas. */
import { PointMenu, type MenuEntry } from "../components/Menu";
import { deleteThings, setField } from "../document/edits";
import { joinable, setEdgeForm, USUAL_BOUND } from "../document/edge-edits";
import { offCannotEdit, offOnlyRead } from "../debugger/model/only-read";
import { askProbe } from "../debugger/state/asked";
import { runTo } from "../debugger/run/actions";
import { addBreakpoint } from "../debugger/run/breakpoint-dialog";
import { currentBreakpoints, plainPoint, toggleBreakpoint } from "../debugger/run/breakpoints";
import { someEnabled } from "../document/disabled";
import type { GraphDocument } from "../document/document";
import type { Jump } from "../document/node-references";
import type { Patch } from "../document/patch";
import { nestedGraphOf } from "../document/nested-graphs";
import { errorWayOf } from "../document/error-ways";
import { declaredWays } from "../document/ports";
import { routeByWays, routeKey } from "../document/routes";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { edgeOf, END, START, type EdgeForm, type Json, type JsonObject } from "../document/types";
import { listed } from "../lib/intl";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { useSession } from "../state/session";
import { setBound } from "./adding";
import { isExpandable, isExpanded } from "./expansions";
import { pasteOrSay, readClipboard } from "./clipboard";
import { edgeToGoal, goalToEdge, removeGoal, sayGoal, seenJumps } from "./jumps";
import { type Note, NOTE_COLOURS, noteOf } from "./notes";
import { toggleFolds } from "./folds";
import { hiddenNow } from "./hidden-wires";
import { scene } from "./scene";
import { selectLine } from "./line-selection";
import { setCanvas, useCanvas, type CanvasMenuPlace } from "./store";
import type { Line } from "./lines";

const key = (id: string) => shortcutOf(id);
const command = (id: string, label: string, off: string | null = null): MenuEntry => ({
  id,
  label,
  shortcut: key(id),
  off,
  run: () => runCommand(id),
});

function nodeEntries(node: string): MenuEntry[] {
  if (node === START || node === END) return [command("edit.addNode", t("canvas.menu.addConnected"))];
  const note = noteOf(doc.get(`node:${node}`));
  if (note) return noteEntries(node, note);
  const set = (when: "before" | "after") => plainPoint(currentBreakpoints(), node, when) !== undefined;
  return [
    ...mendEntries(node),
    ...(nestedGraphOf(node) === null ? [] : [command("graph.openNested", t("forms.editor.openGraph"))]),
    ...(isExpandable(node)
      ? [command("view.expandNode", t(isExpanded(node) ? "expand.fold" : "expand.expand"))]
      : []),
    command("edit.rename", t("canvas.menu.rename")),
    command("edit.addNode", t("canvas.menu.addConnected")),
    command("edit.addErrorHandler", t("canvas.menu.addErrorHandler")),
    { id: "s1", separator: true },
    command("edit.copy", t("canvas.menu.copy")),
    command("edit.cut", t("canvas.menu.cut")),
    command("edit.duplicate", t("canvas.menu.duplicate")),
    ...(useSession.getState().selection.nodes.length > 1
      ? [command("view.layoutSelection", t("canvas.command.layoutSelection"))]
      : []),
    command(
      "edit.disable",
      t(someEnabled(doc, useSession.getState().selection.nodes) ? "disabled.disable" : "disabled.enable"),
    ),
    { id: "s4", separator: true },
    command("graph.extract", t("structure.extract")),
    command("graph.saveBlock", t("blocks.save")),
    command("edit.frame", t("notes.frame")),
    ...(nestedGraphOf(node) === null ? [] : [command("graph.inline", t("structure.inline"))]),
    { id: "s2", separator: true },
    command("debug.runTo", t("debug.runTo"), offCannotEdit()),
    {
      id: "before",
      label: t("canvas.break.before"),
      off: offCannotEdit(),
      checked: set("before"),
      shortcut: key("debug.breakpoint"),
      run: () => toggleBreakpoint(node, "before"),
    },
    {
      id: "after",
      label: t("canvas.break.after"),
      off: offCannotEdit(),
      checked: set("after"),
      run: () => toggleBreakpoint(node, "after"),
    },
    {
      id: "conditional",
      label: t("breakpoints.withCondition"),
      off: offCannotEdit(),
      run: () => addBreakpoint({ when: "before", node }),
    },
    { id: "probe", label: t("probe.open"), run: () => askProbe({ node }) },
    command("invariants.add", t("invariants.addMenu")),
    command("debug.whatIf", t("whatIf.open"), offOnlyRead()),
    { id: "s3", separator: true },
    {
      id: "hideWires",
      label: t("wires.hide.nodeMenu"),
      checked: hiddenNow().nodes.includes(node),
      shortcut: key("view.hideNodeWires"),
      run: () => runCommand("view.hideNodeWires"),
    },
    command("find.uses", t("find.uses")),
    {
      id: "along",
      label: t("canvas.select.along"),
      entries: (["upstream", "downstream", "connected"] as const).map((along) =>
        command(`select.${along}`, t(`canvas.select.${along}`)),
      ),
    },
    { id: "s5", separator: true },
    command("edit.deleteJoin", t("canvas.menu.deleteJoin")),
    { ...command("edit.delete", t("canvas.menu.delete")), danger: true } as MenuEntry,
  ];
}

function noteEntries(name: string, note: Note): MenuEntry[] {
  const record = `node:${name}`;
  const set = (text: string, pointer: string, value: Json) =>
    void edit(text, (document) => setField(document, record, pointer, value));
  return [
    command("edit.rename", t("canvas.menu.rename")),
    {
      id: "frame",
      label: t("notes.asFrame"),
      checked: note.frame,
      run: () => set(t("notes.edit.asFrame", { name }), "/config/frame", !note.frame),
    },
    ...(note.frame
      ? [
          {
            id: "fold",
            label: t(scene.isFolded(name) ? "folds.unfold" : "folds.fold"),
            shortcut: key("view.foldFrame"),
            run: () => toggleFolds([name]),
          },
        ]
      : []),
    { id: "colours", heading: t("notes.colour") },
    ...NOTE_COLOURS.map((colour): MenuEntry => ({
      id: `colour-${colour}`,
      label: t(`notes.colour.${colour}`),
      checked: note.colour === colour,
      run: () => set(t("notes.edit.colour", { name }), "/config/color", colour),
    })),
    { id: "s1", separator: true },
    command("edit.copy", t("canvas.menu.copy")),
    command("edit.cut", t("canvas.menu.cut")),
    command("edit.duplicate", t("canvas.menu.duplicate")),
    { ...command("edit.delete", t("canvas.menu.delete")), danger: true } as MenuEntry,
  ];
}

const FORMS: readonly EdgeForm[] = ["plain", "when", "route", "each", "limit"];

/** Makes a route of the wires of a node that declares what it chooses from. */
function mendEntries(node: string): MenuEntry[] {
  if (declaredWays(doc.get(`node:${node}`)).length === 0 || routeByWays(doc, node).ops.length === 0)
    return [];
  return [
    {
      id: "route",
      label: t("forms.mend.routeByWays", { key: routeKey(doc, node) }),
      run: () => void edit(t("forms.edit.routeByWays"), (document) => routeByWays(document, node)),
    },
    { id: "s0", separator: true },
  ];
}

/** The bound of a loop, on the line that leads back. */
function boundEntries(line: Line): MenuEntry[] {
  if (line.lane === null || line.to === END) return [];
  return [
    {
      id: "bound",
      label: t(line.bound === null ? "canvas.menu.bound" : "canvas.menu.boundEdit"),
      run: () => {
        if (line.bound === null) setBound(line.to, String(USUAL_BOUND));
        setCanvas({ labelEdit: { line: line.id, what: "bound" } });
      },
    },
    { id: "s-bound", separator: true },
  ];
}

/** What takes over on a failure: going on there, or having the work done there. */
function errorEntries(line: Line): MenuEntry[] {
  const how = errorWayOf(doc.get(`node:${line.from}`))?.how;
  const change = (next: "branch" | "node"): MenuEntry => ({
    id: `error-${next}`,
    label: t(`canvas.menu.error.${next}`, { node: line.to }),
    checked: how === next,
    run: () => {
      const fallback: JsonObject = next === "node" ? { node: line.to } : { to: line.to };
      edit(t("canvas.edit.errorWay"), (document) =>
        setField(document, `node:${line.from}`, "/fallback", fallback),
      );
    },
  });
  return [
    { id: "kind", heading: t("canvas.menu.error") },
    change("branch"),
    ...(line.to === END ? [] : [change("node")]),
    { id: "s1", separator: true },
    {
      id: "delete",
      label: t("canvas.menu.delete"),
      danger: true,
      run: () =>
        void edit(t("canvas.edit.delete"), (document) => deleteThings(document, { edges: [line.edge] })),
    },
  ];
}

/** What can be made of a way without an edge. */
function jumpEntries(jump: Jump): MenuEntry[] {
  const { leading } = scene;
  const change = (id: string, label: string, patch: (document: GraphDocument) => Patch): MenuEntry[] =>
    patch(doc).ops.length === 0 ? [] : [{ id, label, run: () => void edit(t("canvas.edit.goal"), patch) }];
  const to = jump.to === END ? t("canvas.end") : jump.to;
  const listed = removeGoal(doc, jump, leading).ops.length > 0;
  return [
    { id: "title", heading: t("canvas.jump.title", { to: jump.how === "unknown" ? "?" : to }) },
    ...(jump.how === "seen"
      ? change("say", t("canvas.jump.say"), (each) => sayGoal(each, jump, leading))
      : []),
    ...(listed ? change("always", t("canvas.jump.always"), (each) => goalToEdge(each, jump, leading)) : []),
    {
      id: "settings",
      label: t("canvas.jump.settings", { from: jump.from }),
      run: () => useSession.getState().select({ nodes: [jump.from] }),
    },
    ...(listed
      ? [
          { id: "s1", separator: true } as const,
          ...change("delete", t("canvas.menu.delete"), (each) => removeGoal(each, jump, leading)),
        ]
      : []),
  ];
}

/** A wire from a program may as well be one of the places that it goes to by itself. */
function goalEntries(line: Line): MenuEntry[] {
  if (line.form !== "plain" || edgeToGoal(doc, line.edge, scene.leading).ops.length === 0) return [];
  return [
    {
      id: "form-goal",
      label: t("canvas.jump.goal"),
      checked: false,
      run: () => void edit(t("canvas.edit.goal"), (each) => edgeToGoal(each, line.edge, scene.leading)),
    },
  ];
}

function lineEntries(id: string): MenuEntry[] {
  const jump = [...scene.jumps(), ...seenJumps(scene)].find((each) => each.id === id);
  if (jump) return jumpEntries(jump);
  const line = scene.line(id);
  if (!line) return [];
  if (line.form === "error") return [...boundEntries(line), ...errorEntries(line)];
  const { edge, part, form } = line;
  const view = edgeOf(doc.get(`edge:${edge}`));
  const change = (next: EdgeForm): MenuEntry => ({
    id: `form-${next}`,
    label: t(`canvas.form.${next}`),
    checked: form === next,
    run: () => {
      if (!edit(t("canvas.edit.form"), (document) => setEdgeForm(document, edge, next))) return;
      const first = scene.linesOf(edge)[0];
      if (!first) return;
      selectLine(first, false);
      if (next === "when" || next === "each") setCanvas({ labelEdit: { line: first.id, what: "label" } });
      if (next === "route") setCanvas({ labelEdit: { line: first.id, what: "caption" } });
    },
  });
  const entries: MenuEntry[] = [];
  if (line.label !== null && !line.isDefault) {
    entries.push({
      id: "label",
      label: t(form === "route" ? "canvas.menu.label" : "canvas.menu.condition"),
      run: () => setCanvas({ labelEdit: { line: id, what: "label" } }),
    });
  }
  const others = form === "plain" ? joinable(doc, edge) : [];
  const join: MenuEntry[] =
    others.length === 0
      ? []
      : [
          {
            ...change("join"),
            label: t("canvas.menu.join", {
              nodes: listed([edge, ...others].flatMap((each) => edgeOf(doc.get(`edge:${each}`)).sources)),
            }),
          } as MenuEntry,
        ];
  entries.push(
    { id: "kind", heading: t("canvas.menu.form") },
    ...(form === "join"
      ? (["plain", "join"] as const).map(change)
      : [
          ...FORMS.filter((next) => next !== "limit" || line.from !== START).map(change),
          ...goalEntries(line),
          ...join,
        ]),
    { id: "s1", separator: true },
  );
  entries.push(...boundEntries(line));
  const several = view.paths.length > 1;
  if (several) {
    entries.push({
      id: "line",
      label: t(form === "join" ? "canvas.menu.deleteSource" : "canvas.menu.deleteLabel"),
      run: () =>
        void edit(t("canvas.edit.delete"), (document) => deleteThings(document, { paths: [{ edge, part }] })),
    });
  }
  entries.push(
    {
      id: "probe",
      label: t("probe.open"),
      run: () => askProbe({ node: line.from, to: line.to }),
    },
    command("invariants.add", t("invariants.addMenu")),
  );
  if (line.from !== START) {
    entries.push(
      {
        id: "runTo",
        label: t("debug.runTo"),
        off: offOnlyRead(),
        run: () => void runTo([{ when: "edge", node: line.from, to: line.to }]),
      },
      {
        id: "break",
        label: t("breakpoints.onEdge"),
        off: offOnlyRead(),
        run: () => addBreakpoint({ when: "edge", node: line.from, to: line.to }),
      },
      { id: "s3", separator: true },
    );
  }
  entries.push({
    id: "delete",
    label: t(several ? "canvas.menu.deleteWhole" : "canvas.menu.delete"),
    danger: true,
    run: () => void edit(t("canvas.edit.delete"), (document) => deleteThings(document, { edges: [edge] })),
  });
  return entries;
}

/** Opens the menu. What it is opened over becomes the selection, unless it is part of it. */
export function openCanvasMenu(menu: CanvasMenuPlace): void {
  const { selection, select } = useSession.getState();
  if (menu.node !== undefined && !selection.nodes.includes(menu.node)) {
    setCanvas({ lines: [] });
    select({ nodes: [menu.node] });
  }
  const line = menu.line === undefined ? undefined : scene.line(menu.line);
  if (line && !selection.edges.includes(line.edge)) selectLine(line, false);
  setCanvas({ menu });
}

/** An entry of the menu of what is selected, for those who find it by name. */
export interface SelectionAction {
  readonly id: string;
  readonly title: string;
  readonly run: () => void;
}

/** What the menu of the selected node or edge offers beside commands. Under a heading an entry is named with it. */
export function selectionActions(): SelectionAction[] {
  const { nodes, edges } = useSession.getState().selection;
  const { lines } = useCanvas.getState();
  const [node] = nodes;
  const [edge] = edges;
  const line = lines[0] ?? (edge === undefined ? undefined : scene.linesOf(edge)[0]?.id);
  if (nodes.length === 1 && edges.length === 0 && node !== undefined) return actionsOf(nodeEntries(node));
  if (nodes.length === 0 && edges.length === 1 && line !== undefined) return actionsOf(lineEntries(line));
  return [];
}

function actionsOf(entries: readonly MenuEntry[]): SelectionAction[] {
  let heading: string | null = null;
  return entries.flatMap((entry): SelectionAction[] => {
    if ("separator" in entry || "heading" in entry) {
      heading = "heading" in entry ? entry.heading : null;
      return [];
    }
    if ("entries" in entry || entry.checked === true || entry.disabled === true) return [];
    const title = heading === null ? entry.label : t("forms.command.under", { heading, label: entry.label });
    return [{ id: entry.id, title, run: entry.run }];
  });
}

/** What can be done with a graph that was seen in threads: it is looked at, and nothing of it is edited. */
const LOOKS =
  /^(view|select|find|debug)\.|^graph\.openNested$|^edit\.(copy|selectAll)$|^(before|after|conditional|probe|hideWires|along|runTo|break)$/;

/** The entries without those that edit, and without lines and headings that nothing is left of. */
export function withoutEdits(entries: readonly MenuEntry[]): MenuEntry[] {
  const kept = entries.filter(
    (entry) => "separator" in entry || (!("heading" in entry) && LOOKS.test(entry.id)),
  );
  return kept.filter((entry, index) => {
    if (!("separator" in entry)) return true;
    const before = kept[index - 1];
    return (
      before !== undefined &&
      !("separator" in before) &&
      kept.slice(index).some((next) => !("separator" in next))
    );
  });
}

function entriesOf(menu: CanvasMenuPlace): MenuEntry[] {
  const entries =
    menu.node !== undefined
      ? nodeEntries(menu.node)
      : menu.line !== undefined
        ? lineEntries(menu.line)
        : paneEntries();
  return useDocumentState.getState().seen === null ? entries : withoutEdits(entries);
}

export function CanvasMenu() {
  const menu = useCanvas((state) => state.menu);
  const entries = menu === null ? [] : entriesOf(menu);
  return <PointMenu at={menu?.at ?? null} entries={entries} onClose={() => setCanvas({ menu: null })} />;
}

function paneEntries(): MenuEntry[] {
  const { menu } = useCanvas.getState();
  if (!menu) return [];
  return [
    {
      id: "add",
      label: t("canvas.menu.add"),
      shortcut: key("edit.addNode"),
      run: () => setCanvas({ search: { screen: menu.at, place: menu.place, wire: null } }),
    },
    {
      id: "paste",
      label: t("canvas.menu.paste"),
      shortcut: key("edit.paste"),
      run: () => void readClipboard().then((text) => pasteOrSay(text, menu.place)),
    },
    {
      id: "pasteConnected",
      label: t("canvas.menu.pasteConnected"),
      shortcut: key("edit.pasteConnected"),
      run: () => void readClipboard().then((text) => pasteOrSay(text, menu.place, true)),
    },
    { id: "s1", separator: true },
    command("edit.selectAll", t("canvas.menu.selectAll")),
    command("view.layout", t("shell.menu.layout")),
    command("view.layoutAll", t("canvas.command.layoutAll")),
    command("view.layoutDown", t("shell.menu.layoutDown")),
    command("view.fit", t("shell.menu.fit")),
    {
      id: "hideWires",
      label: t("wires.hide.others"),
      checked: hiddenNow().others,
      shortcut: key("view.hideWires"),
      run: () => runCommand("view.hideWires"),
    },
  ];
}
