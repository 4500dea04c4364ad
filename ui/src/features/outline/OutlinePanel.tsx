/**
 * The graph as a list: nodes with the edges that leave them. Everything that matters on the canvas can be done here with
 * the keyboard alone, and is read out by screen readers as a tree. Only the rows in view are mounted.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { focusEdge, focusNode } from "../../canvas/actions";
import { deleteEverywhere, toggleEverywhere } from "../../canvas/records";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { addAfter, addBetween } from "../../canvas/adding";
import { useInsides } from "../../canvas/expansions";
import { scene } from "../../canvas/scene";
import { useCanvas } from "../../canvas/store";
import { deleteThings } from "../../document/edits";
import { moveLine } from "../../document/order";
import { doc, useDocumentVersion } from "../../document/store";
import { edit } from "../../document/edit";
import { openNestedGraph } from "../../document/nested-graphs";
import { errorNode } from "../../document/error-ways";
import { edgeOf, END, nodeOf, START } from "../../document/types";
import { focusFirstField } from "../../lib/parts";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { OutlineRow, type RowActions } from "./OutlineRow";
import { usePicking } from "./picking";
import { type Insides, Outline, wayOf, type Row } from "./rows";
import { panelClass } from "../../components/recipes";

/** Heights of rows, as in the stylesheet. */
const HEIGHT = { node: 28, edge: 24, way: 24, inside: 24 } as const;

/** Deletes what a row stands for; a node that is selected among others, with them. */
function deleteRow(row: Row, group: readonly string[]): boolean {
  if (row.kind === "way" || row.kind === "inside") return false;
  if (group.length > 1) {
    const { nodes, edges } = useSession.getState().selection;
    return deleteEverywhere(t("canvas.edit.delete"), { nodes, edges });
  }
  if (row.kind === "node") {
    if (row.name === START || row.name === END) return false;
    return deleteEverywhere(t("forms.edit.delete", { name: row.name }), { nodes: [row.name] });
  }
  return edit(t("forms.edit.deleteEdge"), (document) =>
    edgeOf(document.get(`edge:${row.edge}`)).paths.length > 1
      ? deleteThings(document, { paths: [{ edge: row.edge, part: row.part }] })
      : deleteThings(document, { edges: [row.edge] }),
  );
}

const isNamed = (row: Row) =>
  row.kind === "node" ? row.name !== START && row.name !== END : wayOf(doc, row) !== null;

/** Opens the search for what comes next: after a node, at a way, or in an edge. */
function addAtRow(row: Row, element: HTMLElement | null): void {
  const box = element?.getBoundingClientRect();
  const at = { x: box?.right ?? 0, y: box?.top ?? 0 };
  if (row.kind === "way") addAfter(row.node, row.port, at);
  else if (row.kind === "node" && row.name !== END) addAfter(row.name, null, at);
  else if (row.kind === "edge") {
    const line = scene.linesOf(row.edge).find((each) => each.part === row.part);
    if (line) addBetween(line, at);
  }
}

function moveRow(row: Row & { kind: "edge" }, by: 1 | -1, goTo: (row: Row) => void): void {
  // What leads on from a failure is a setting of its node, and in no order.
  if (errorNode(doc, row.edge) !== null) return;
  const moved = edit(t("forms.outline.moveEdit"), (document) => moveLine(document, row.edge, row.part, by));
  if (moved) goTo(row);
}

/** Puts the focus on the first setting of what is selected, once it is shown. */
function openSettings(): void {
  useSession.getState().showTab("right", "inspector");
  focusFirstField([formsIds.inspectorConfig, formsIds.inspector]);
}

/** Brings the focus back to the list when a search that was opened from it has closed: to what was added, or where it was. */
function useReturn(goTo: (row: Row | undefined) => void, rows: readonly Row[], current: number): () => void {
  const busy = useCanvas((state) => state.search !== null || state.choice !== null);
  const from = useRef<readonly string[] | null>(null);
  useEffect(() => {
    if (busy || from.current === null) return;
    const before = from.current;
    from.current = null;
    const { nodes } = useSession.getState().selection;
    const added =
      nodes === before ? undefined : rows.find((row) => row.kind === "node" && row.name === nodes[0]);
    goTo(added ?? rows[current]);
  }, [busy, goTo, rows, current]);
  return () => {
    from.current = useSession.getState().selection.nodes;
  };
}

/** What the outline lists under nodes that are expanded in place; the same while it is the same graphs. */
function useInsideNodes(): Insides {
  const insides = useInsides();
  return useMemo(
    () =>
      new Map(
        Object.entries(insides).flatMap(([node, { drawn }]) => {
          if (!drawn) return [];
          const kindOf = (name: string) => nodeOf(drawn.scene.doc.get(`node:${name}`)).kind;
          return [[node, drawn.nodes.map((name) => ({ name, does: kindOf(name) }))] as const];
        }),
      ),
    [insides],
  );
}

export function OutlinePanel() {
  const insides = useInsideNodes();
  useDocumentVersion();
  const selection = useSession((state) => state.selection);
  const listId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const outline = useMemo(() => new Outline(doc), []);
  useEffect(() => outline.follow(), [outline]);
  const rows = outline.rows(insides);
  const placeOf = useCallback((id: string) => outline.placeOf(id), [outline]);
  const chosen = useMemo(
    () => ({ nodes: new Set(selection.nodes), edges: new Set(selection.edges) }),
    [selection],
  );
  const isSelected = useCallback(
    (row: Row) =>
      row.kind === "node" ? chosen.nodes.has(row.name) : row.kind === "edge" && chosen.edges.has(row.edge),
    [chosen],
  );
  const current = useMemo(() => {
    const at = active === null ? undefined : placeOf(active);
    if (at !== undefined) return at;
    return Math.max(0, rows.findIndex(isSelected));
  }, [active, placeOf, rows, isSelected]);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHT[rows[index]?.kind ?? "node"],
    getItemKey: (index) => rows[index]?.id ?? index,
    paddingStart: 8,
    paddingEnd: 8,
    overscan: 12,
    // The row that the keyboard is on stays, wherever the list is scrolled to.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return shown.includes(current) || current >= range.count
        ? shown
        : [...shown, current].sort((a, b) => a - b);
    },
  });

  /** The row that takes the focus once it is mounted. */
  const wanted = useRef<string | null>(null);
  const [moves, setMoves] = useState(0);
  useEffect(() => {
    if (wanted.current === null) return;
    const at = placeOf(wanted.current);
    if (at === undefined) return;
    virtual.scrollToIndex(at, { align: "auto" });
    document.getElementById(`${listId}${wanted.current}`)?.focus({ preventScroll: true });
    wanted.current = null;
  }, [active, moves, rows, placeOf, virtual, listId]);
  const goTo = useCallback((row: Row | undefined) => {
    if (!row) return;
    wanted.current = row.id;
    setActive(row.id);
    setMoves((moves) => moves + 1);
  }, []);

  const picking = usePicking(rows, placeOf);
  const actions = useMemo<RowActions>(
    () => ({
      activate: (row) => setActive(row.id),
      choose: (row, how) => {
        setActive(row.id);
        if (how === "toggle") picking.toggle(row);
        else picking.extendTo(row);
      },
      rename: setRenaming,
      open: (row) => {
        setActive(row.id);
        picking.begin(row);
        const { select } = useSession.getState();
        if (row.kind !== "edge") {
          const name = row.kind === "node" ? row.name : row.node;
          select({ nodes: [name] });
          focusNode(name);
        } else {
          select({ edges: [row.edge] });
          focusEdge(row.edge);
        }
      },
      remove: (row) => {
        const at = placeOf(row.id) ?? 0;
        if (!deleteRow(row, picking.group(row))) return;
        useSession.getState().select({});
        // What stood below may be gone with it.
        const left = outline.rows(insides);
        goTo(left[Math.min(at, left.length - 1)]);
      },
    }),
    [placeOf, goTo, picking, insides, outline],
  );

  const willReturn = useReturn(goTo, rows, current);

  if (doc.names("node").length === 0) {
    return (
      <div data-testid={formsIds.outline}>
        <EmptyState
          compact
          title={t("forms.outline.empty")}
          action={
            <Button
              shortcut="N"
              onClick={() => {
                willReturn();
                runCommand("edit.addNode");
              }}
            >
              {t("forms.outline.add")}
            </Button>
          }
        >
          {t("forms.outline.emptyHelp")}
        </EmptyState>
      </div>
    );
  }

  const element = (row: Row) => document.getElementById(`${listId}${row.id}`);
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[current];
    if (renaming !== null || row === undefined) return;
    if (event.key === "F2" && isNamed(row)) setRenaming(row.id);
    else if (event.altKey && row.kind === "edge" && /^Arrow(Up|Down)$/.test(event.key))
      moveRow(row, event.key === "ArrowUp" ? -1 : 1, goTo);
    else if (event.altKey) return;
    else if (event.key === " " && event.shiftKey) picking.extendTo(row);
    else if (event.key === " ") actions.choose(row, "toggle");
    else if ((event.ctrlKey || event.metaKey) && (event.shiftKey || !/^Arrow(Up|Down)$/.test(event.key)))
      return;
    else if (event.shiftKey && /^Arrow(Up|Down)$/.test(event.key)) {
      const next = picking.beside(current, event.key === "ArrowUp" ? -1 : 1);
      if (next !== undefined) {
        picking.extendTo(next, row);
        goTo(next);
      }
    } else if (event.shiftKey && event.key.startsWith("Arrow")) return;
    else if (event.key === "ArrowDown") goTo(rows[current + 1]);
    else if (event.key === "ArrowUp") goTo(rows[current - 1]);
    else if (event.key === "Home") goTo(rows[0]);
    else if (event.key === "End") goTo(rows.at(-1));
    else if (event.key === "ArrowRight" && row.kind === "edge")
      goTo(rows[placeOf(`node:${row.target}`) ?? -1]);
    else if (event.key === "ArrowLeft" && row.kind !== "node")
      goTo(rows.slice(0, current).findLast((other) => other.kind === "node"));
    else if (event.key === "Enter") {
      actions.open(row);
      if (row.kind === "inside") void openNestedGraph(row.node, row.name);
      else openSettings();
    } else if (event.key === "Delete" || event.key === "Backspace") actions.remove(row);
    else if ((event.key === "n" && row.kind !== "inside") || (event.key === "c" && row.kind === "way")) {
      willReturn();
      addAtRow(row, element(row));
    } else if (event.key === "d" && row.kind === "node") toggleEverywhere(picking.group(row));
    else if (event.key === "c" && row.kind === "node" && row.name !== END)
      element(row)?.querySelector<HTMLElement>("[data-connect]")?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className={panelClass} data-testid={formsIds.outline}>
      <div
        className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto"
        ref={scroller}
        onKeyDown={onKeyDown}
        data-selects
      >
        <div
          className="relative"
          role="tree"
          aria-multiselectable
          aria-label={t("forms.outline.label")}
          style={{ height: virtual.getTotalSize() }}
        >
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <div key={item.key} role="none" className="absolute inset-x-2" style={{ top: item.start }}>
                <OutlineRow
                  row={row}
                  id={`${listId}${row.id}`}
                  selected={isSelected(row)}
                  current={item.index === current}
                  renaming={renaming === row.id}
                  actions={actions}
                />
              </div>
            );
          })}
        </div>
      </div>
      <p className="py-2 px-3 border-t border-line text-2xs text-text-3 shrink-0">
        {t("forms.outline.help")}
      </p>
    </div>
  );
}
