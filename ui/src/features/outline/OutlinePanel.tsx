/**
 * The graph as a list: nodes with the edges that leave them. Everything that matters on the canvas can be done here with
 * the keyboard alone, and is read out by screen readers as a tree.
 */
import { CircleAlert, Flag, MoreHorizontal, Play, TriangleAlert } from "lucide-react";
import { useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { deleteEverywhere, renameEverywhere } from "../../canvas/records";
import { addNodeAt, focusEdge, focusNode } from "../../canvas/actions";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { KindIcon } from "../../components/KindIcon";
import { Menu, type MenuEntry } from "../../components/Menu";
import { connect, deleteThings, nodeNameProblem } from "../../document/edits";
import { doc, edit, useDocumentState, useDocumentVersion } from "../../document/store";
import { edgeOf, END, isObject, nodeOf, START } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import "./outline.css";

type Row =
  | { kind: "node"; id: string; name: string; level: 1 }
  | { kind: "edge"; id: string; edge: string; target: string; mark: string; level: 2 };

const nodeText = (name: string) => (name === START ? t("forms.start") : name === END ? t("forms.end") : name);

/** The rows in the order in which a run could visit them: from the start along the edges, then what cannot be reached. */
function rowsOf(): Row[] {
  const order: string[] = [];
  const seen = new Set<string>();
  const queue = [START];
  const visit = (name: string) => {
    if (seen.has(name) || (name !== START && name !== END && !doc.has(`node:${name}`))) return;
    seen.add(name);
    order.push(name);
  };
  visit(START);
  for (let at = 0; at < queue.length; at += 1) {
    for (const edge of doc.edgesFrom(queue[at]!)) {
      for (const target of edgeOf(doc.get(`edge:${edge}`)).targets) {
        if (seen.has(target) || target === END) continue;
        visit(target);
        queue.push(target);
      }
    }
  }
  for (const name of doc.names("node")) visit(name);
  const rows: Row[] = [];
  for (const name of order) {
    rows.push({ kind: "node", id: `node:${name}`, name, level: 1 });
    for (const edge of doc.edgesFrom(name)) {
      const record = doc.get(`edge:${edge}`);
      const view = edgeOf(record);
      for (const path of view.paths) {
        if (path.from !== name) continue;
        const mark =
          view.form === "route"
            ? (path.label ?? t("forms.outline.default"))
            : view.form === "when"
              ? (view.expression ?? "")
              : view.form === "each"
                ? `${t("forms.outline.each")} ${view.expression ?? ""}`
                : view.form === "join"
                  ? t("forms.outline.join", {
                      others: view.sources.filter((source) => source !== name).join(", "),
                    })
                  : "";
        rows.push({ kind: "edge", id: `edge:${edge}:${path.part}`, edge, target: path.to, mark, level: 2 });
      }
    }
  }
  return rows;
}

export function OutlinePanel() {
  const version = useDocumentVersion();
  const selection = useSession((state) => state.selection);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const problems = useDocumentState((state) => state.byRecord);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const rows = useMemo(() => {
    void version;
    return rowsOf();
  }, [version]);

  if (doc.names("node").length === 0) {
    return (
      <EmptyState
        compact
        title={t("forms.outline.empty")}
        action={
          <Button onClick={() => useSession.getState().showTab("left", "palette", "design")}>
            {t("forms.outline.toPalette")}
          </Button>
        }
      >
        {t("forms.outline.emptyHelp")}
      </EmptyState>
    );
  }

  const isSelected = (row: Row) =>
    row.kind === "node" ? selection.nodes.includes(row.name) : selection.edges.includes(row.edge);
  const current = rows.find((row) => row.id === active) ?? rows.find(isSelected) ?? rows[0];

  const open = (row: Row) => {
    setActive(row.id);
    const { select } = useSession.getState();
    if (row.kind === "node") {
      select({ nodes: [row.name] });
      focusNode(row.name);
    } else {
      select({ edges: [row.edge] });
      focusEdge(row.edge);
    }
  };
  const goTo = (row: Row | undefined) => {
    if (!row) return;
    setActive(row.id);
    document.getElementById(`${listId}${row.id}`)?.focus();
  };
  const remove = (row: Row) => {
    const at = rows.indexOf(row);
    const done =
      row.kind === "node"
        ? row.name !== START &&
          row.name !== END &&
          deleteEverywhere(t("forms.edit.delete", { name: row.name }), { nodes: [row.name] })
        : edit(t("forms.edit.deleteEdge"), (document) => {
            const part = row.id.slice(`edge:${row.edge}:`.length);
            const view = edgeOf(document.get(`edge:${row.edge}`));
            return view.paths.length > 1
              ? deleteThings(document, { paths: [{ edge: row.edge, part }] })
              : deleteThings(document, { edges: [row.edge] });
          });
    if (done) {
      useSession.getState().select({});
      requestAnimationFrame(() => goTo(rows[at + 1] ?? rows[at - 1]));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (renaming !== null || current === undefined) return;
    const at = rows.indexOf(current);
    if (event.key === "ArrowDown") goTo(rows[at + 1]);
    else if (event.key === "ArrowUp") goTo(rows[at - 1]);
    else if (event.key === "Home") goTo(rows[0]);
    else if (event.key === "End") goTo(rows.at(-1));
    else if (event.key === "ArrowRight" && current.kind === "edge")
      goTo(rows.find((row) => row.kind === "node" && row.name === current.target));
    else if (event.key === "ArrowLeft" && current.kind === "edge")
      goTo(rows.slice(0, at).findLast((row) => row.kind === "node"));
    else if (event.key === "Enter" || event.key === " ") open(current);
    else if (event.key === "F2" && current.kind === "node" && current.name !== START && current.name !== END)
      setRenaming(current.name);
    else if (event.key === "Delete" || event.key === "Backspace") remove(current);
    else if (
      event.key === "c" &&
      !event.ctrlKey &&
      !event.metaKey &&
      current.kind === "node" &&
      current.name !== END
    ) {
      document
        .getElementById(`${listId}${current.id}`)
        ?.querySelector<HTMLElement>("[data-connect]")
        ?.click();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="ss-panel" data-testid={formsIds.outline}>
      <div
        className="ss-panel-scroll outline"
        role="tree"
        aria-label={t("forms.outline.label")}
        ref={list}
        onKeyDown={onKeyDown}
      >
        {rows.map((row) => {
          const record = row.kind === "node" ? `node:${row.name}` : `edge:${row.edge}`;
          const found = problems.get(record);
          const failed = found?.some((problem) => problem.severity === "error") ?? false;
          const node = row.kind === "node" ? nodeOf(doc.get(record)) : null;
          const terminal = row.kind === "node" && (row.name === START || row.name === END);
          return (
            <div
              key={row.id}
              id={`${listId}${row.id}`}
              role="treeitem"
              aria-level={row.level}
              aria-selected={isSelected(row)}
              tabIndex={row === current ? 0 : -1}
              className="outline-row"
              data-level={row.level}
              data-testid={
                row.kind === "node" ? formsIds.outlineNode(row.name) : formsIds.outlineEdge(row.edge)
              }
              onClick={() => open(row)}
              onFocus={() => setActive(row.id)}
              onDoubleClick={() => {
                if (row.kind === "node" && !terminal) setRenaming(row.name);
              }}
            >
              {row.kind === "node" ? (
                row.name === START ? (
                  <Play size={14} aria-hidden />
                ) : row.name === END ? (
                  <Flag size={14} aria-hidden />
                ) : (
                  <KindIcon icon={kinds?.find((kind) => kind.kind === node?.kind)?.icon ?? "box"} size={14} />
                )
              ) : (
                <span className="outline-arrow" aria-hidden>
                  →
                </span>
              )}
              {row.kind === "node" && renaming === row.name ? (
                <RenameInput name={row.name} onDone={() => setRenaming(null)} />
              ) : (
                <span className="outline-name">
                  {row.kind === "node" ? nodeText(row.name) : nodeText(row.target)}
                </span>
              )}
              {row.kind === "edge" && row.mark !== "" && <span className="outline-mark">{row.mark}</span>}
              {row.kind === "node" && isObject(doc.get(record)) && node?.title !== undefined && (
                <span className="outline-title">{node.title}</span>
              )}
              {found !== undefined &&
                (failed ? (
                  <CircleAlert
                    size={13}
                    className="outline-failed"
                    aria-label={t("forms.outline.problems")}
                  />
                ) : (
                  <TriangleAlert
                    size={13}
                    className="outline-warned"
                    aria-label={t("forms.outline.problems")}
                  />
                ))}
              {row.kind === "node" && row.name !== END && (
                <RowMenu
                  row={row}
                  terminal={terminal}
                  onRename={() => setRenaming(row.name)}
                  onDelete={() => remove(row)}
                />
              )}
            </div>
          );
        })}
      </div>
      <p className="outline-help">{t("forms.outline.help")}</p>
    </div>
  );
}

function RowMenu({
  row,
  terminal,
  onRename,
  onDelete,
}: {
  row: Row & { kind: "node" };
  terminal: boolean;
  onRename(): void;
  onDelete(): void;
}) {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const { name } = row;
  const connectTo = (target: string) =>
    edit(t("forms.outline.connectEdit", { from: nodeText(name), to: nodeText(target) }), (document) =>
      connect(document, name, target),
    );
  const targets: MenuEntry[] = [
    ...doc.names("node").map((node) => ({ id: node, label: node, run: () => void connectTo(node) })),
    { id: END, label: t("forms.end"), run: () => void connectTo(END) },
  ];
  return (
    <span
      className="outline-tools"
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Menu
        align="end"
        trigger={
          <IconButton
            size="small"
            label={t("forms.outline.connect", { node: nodeText(name) })}
            tabIndex={-1}
            data-connect=""
          >
            <span aria-hidden>→</span>
          </IconButton>
        }
        entries={[{ id: "heading", heading: t("forms.outline.connectTo") }, ...targets]}
      />
      <Menu
        align="end"
        trigger={
          <IconButton size="small" label={t("forms.outline.more", { name: nodeText(name) })} tabIndex={-1}>
            <MoreHorizontal size={13} />
          </IconButton>
        }
        entries={[
          {
            id: "after",
            label: t("forms.outline.addAfter"),
            entries: (kinds ?? []).map((kind) => ({
              id: kind.kind,
              label: kind.title,
              icon: <KindIcon icon={kind.icon} size={14} />,
              run: () => {
                const made = addNodeAt(kind.kind);
                if (
                  made !== null &&
                  !doc.edgesFrom(name).some((edge) => edgeOf(doc.get(`edge:${edge}`)).targets.includes(made))
                ) {
                  edit(t("forms.outline.connectEdit", { from: nodeText(name), to: made }), (document) =>
                    connect(document, name, made),
                  );
                }
              },
            })),
          },
          ...(terminal
            ? []
            : ([
                { id: "rename", label: t("forms.outline.rename"), shortcut: "F2", run: onRename },
                { id: "separator", separator: true },
                {
                  id: "delete",
                  label: t("forms.outline.delete"),
                  shortcut: "Delete",
                  danger: true,
                  run: onDelete,
                },
              ] satisfies MenuEntry[])),
        ]}
      />
    </span>
  );
}

function RenameInput({ name, onDone }: { name: string; onDone(): void }) {
  const [draft, setDraft] = useState(name);
  const bad = nodeNameProblem(doc, draft.trim(), name) !== null;
  const finish = () => {
    const to = draft.trim();
    if (!bad && to !== name) renameEverywhere(name, to);
    onDone();
  };
  return (
    <input
      autoFocus
      className="outline-input"
      aria-label={t("forms.inspector.name")}
      aria-invalid={bad || undefined}
      value={draft}
      onFocus={(event) => event.target.select()}
      onClick={(event) => event.stopPropagation()}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={finish}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish();
        else if (event.key === "Escape") onDone();
      }}
    />
  );
}
