/** One row of the outline, with what can be done to its node. */
import { CircleAlert, CircleOff, Flag, MoreHorizontal, Play, TriangleAlert } from "lucide-react";
import { memo, useState } from "react";
import { addNodeAt, connectFrom } from "../../canvas/actions";
import { renameEverywhere, toggleEverywhere } from "../../canvas/records";
import { IconButton } from "../../components/IconButton";
import { KindIcon } from "../../components/KindIcon";
import { Menu, type MenuEntry } from "../../components/Menu";
import { connectBy } from "../../canvas/adding";
import { waysOf } from "../../canvas/ways";
import { disabledOf, someEnabled } from "../../document/disabled";
import { connect, nodeNameProblem } from "../../document/edits";
import { renameWay } from "../../document/ports";
import { openNestedGraph } from "../../document/nested-graphs";
import { doc, useDiagnostics, useRecord } from "../../document/store";
import { edit } from "../../document/edit";
import { edgeOf, END, nodeOf, START } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { nodeText, wayOf, type NodeRow, type Row } from "./rows";

/** More targets than this are searched for instead of listed. */
const MOST_TARGETS = 200;

export interface RowActions {
  open(row: Row): void;
  /** Takes a row into the selection, or out of it; or all from the one before to it. */
  choose(row: Row, how: "toggle" | "extend"): void;
  activate(row: Row): void;
  /** Edits the name of a row in place; null ends it. */
  rename(row: string | null): void;
  remove(row: Row): void;
}

interface Props {
  row: Row;
  /** Id of the element. */
  id: string;
  selected: boolean;
  current: boolean;
  renaming: boolean;
  actions: RowActions;
}

export const OutlineRow = memo(function OutlineRow({ row, id, selected, current, renaming, actions }: Props) {
  const recordId =
    row.kind === "node" ? `node:${row.name}` : row.kind === "edge" ? `edge:${row.edge}` : row.id;
  const record = useRecord(recordId);
  const found = useDiagnostics(recordId).filter(({ pointer }) => pointer !== "/disabled");
  const kinds = useSession((state) => state.appInfo?.kinds);
  const failed = found.some((problem) => problem.severity === "error");
  const node = row.kind === "node" ? nodeOf(record) : null;
  const disabled = row.kind === "node" && disabledOf(record) !== null;
  const terminal = row.kind === "node" && (row.name === START || row.name === END);
  const Problem = failed ? CircleAlert : TriangleAlert;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.at}
      aria-setsize={row.of}
      aria-selected={selected}
      data-disabled={disabled || undefined}
      tabIndex={current ? 0 : -1}
      className="group/row relative flex h-7 items-center gap-1.75 rounded-md pr-1 pl-1.5 hover:bg-surface-3 focus-visible:-outline-offset-2 aria-selected:bg-accent-soft data-[level=2]:h-6 data-[level=2]:pl-5 data-[level=2]:text-xs/inherit data-[level=2]:text-text-2 [&>svg]:shrink-0 [&>svg]:text-text-2"
      data-level={row.level}
      data-testid={
        row.kind === "node"
          ? formsIds.outlineNode(row.name)
          : row.kind === "edge"
            ? formsIds.outlineEdge(row.edge)
            : row.kind === "way"
              ? formsIds.outlineWay(row.node, row.mark)
              : formsIds.outlineInside(row.node, row.name)
      }
      onClick={(event) => {
        if (event.shiftKey) actions.choose(row, "extend");
        else if (event.ctrlKey || event.metaKey) actions.choose(row, "toggle");
        else actions.open(row);
      }}
      onFocus={() => actions.activate(row)}
      onDoubleClick={() => {
        if (row.kind === "inside") void openNestedGraph(row.node, row.name);
        else if (!terminal) actions.rename(row.id);
      }}
    >
      {row.kind === "inside" ? (
        <KindIcon icon={kinds?.find((kind) => kind.kind === row.does)?.icon ?? "box"} size={12} />
      ) : row.kind !== "node" ? (
        <span className="text-text-3" aria-hidden>
          →
        </span>
      ) : row.name === START ? (
        <Play size={14} aria-hidden />
      ) : row.name === END ? (
        <Flag size={14} aria-hidden />
      ) : (
        <KindIcon icon={kinds?.find((kind) => kind.kind === node?.kind)?.icon ?? "box"} size={14} />
      )}
      {renaming ? (
        <RenameInput row={row} onDone={() => actions.rename(null)} />
      ) : row.kind === "way" ? (
        <span className="shrink-0 text-text-3 italic">{t("forms.outline.open")}</span>
      ) : (
        <span className="shrink-0 max-w-[62%] truncate in-data-[level=1]:font-medium in-data-disabled:text-text-3 in-data-disabled:line-through">
          {nodeText(row.kind === "edge" ? row.target : row.name)}
        </span>
      )}
      {row.kind === "inside" && (
        <span className="min-w-0 flex-1 truncate text-2xs/inherit text-text-3">{t("expand.outline")}</span>
      )}
      {(row.kind === "edge" || row.kind === "way") && row.mark !== "" && !renaming && (
        <span className="flex-1 min-w-0 text-2xs/inherit text-text-3 font-mono truncate">{row.mark}</span>
      )}
      {node?.title !== undefined && (
        <span className="flex-1 min-w-0 text-2xs/inherit text-text-3 truncate">{node.title}</span>
      )}
      {disabled && (
        <span className="ml-auto inline-flex shrink-0 items-center gap-1 text-2xs text-text-3">
          <CircleOff size={12} aria-hidden />
          {t("disabled.badge")}
        </span>
      )}
      {found.length > 0 && (
        <Problem
          size={13}
          className={failed ? "ml-auto text-failed!" : "ml-auto text-asking!"}
          aria-label={t("forms.outline.problems")}
        />
      )}
      {row.kind === "node" && row.name !== END && (
        <RowMenu
          id={id}
          row={row}
          terminal={terminal}
          onRename={() => actions.rename(row.id)}
          onDelete={() => actions.remove(row)}
        />
      )}
    </div>
  );
});

function RowMenu({
  id,
  row,
  terminal,
  onRename,
  onDelete,
}: {
  id: string;
  row: NodeRow;
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
  const targetsOf = (connectTo: (target: string) => unknown): MenuEntry[] => {
    const nodes = doc.names("node");
    return [
      ...nodes.slice(0, MOST_TARGETS).map((node) => ({
        id: node,
        label: node,
        run: () => void connectTo(node),
      })),
      { id: END, label: t("forms.end"), run: () => void connectTo(END) },
      ...(nodes.length > MOST_TARGETS
        ? [{ id: "others", label: t("forms.outline.connectOthers"), run: () => connectFrom(name) }]
        : []),
    ];
  };
  /** Where to; of a node that chooses, which way first. */
  const targets = (): MenuEntry[] => {
    const ways = waysOf(doc, name);
    if (ways.length === 0)
      return [{ id: "heading", heading: t("forms.outline.connectTo") }, ...targetsOf(connectTo)];
    return [
      { id: "heading", heading: t("canvas.choice.title") },
      ...ways.map(({ id, label, leaving }) => ({
        id,
        label,
        entries: targetsOf((target) => connectBy(name, leaving(target), target)),
      })),
    ];
  };
  return (
    <span
      className="absolute right-0.5 ml-auto flex rounded-sm bg-surface-3 opacity-0 group-focus-within/row:opacity-100 group-focus/row:opacity-100 group-hover/row:opacity-100 has-data-popup-open:opacity-100"
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Menu
        align="end"
        finalFocus={() => document.getElementById(id)}
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
        entries={targets}
      />
      <Menu
        align="end"
        trigger={
          <IconButton size="small" label={t("forms.outline.more", { name: nodeText(name) })} tabIndex={-1}>
            <MoreHorizontal size={13} />
          </IconButton>
        }
        entries={() => [
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
                {
                  id: "disable",
                  label: t(someEnabled(doc, [name]) ? "disabled.disable" : "disabled.enable"),
                  shortcut: "D",
                  run: () => void toggleEverywhere([name]),
                },
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

/** The name of a node or of a way, edited in place. */
function RenameInput({ row, onDone }: { row: Row; onDone(): void }) {
  const way = wayOf(doc, row);
  const name = row.kind === "node" ? row.name : (way?.title ?? "");
  const [draft, setDraft] = useState(name);
  const to = draft.trim();
  const bad = row.kind === "node" ? nodeNameProblem(doc, to, name) !== null : to === "";
  const finish = () => {
    if (!bad && to !== name) {
      if (row.kind === "node") renameEverywhere(name, to);
      else if (way !== null)
        edit(t("forms.outline.renameWay", { from: name, to }), (document) =>
          renameWay(document, way.node, way.port, to),
        );
    }
    onDone();
  };
  return (
    <input
      autoFocus
      className="outline-none flex-1 min-w-0 h-5.5 px-1 border border-focus rounded-sm bg-surface-2 aria-invalid:border-failed"
      aria-label={t(row.kind === "node" ? "forms.inspector.name" : "forms.outline.wayName")}
      aria-invalid={bad || undefined}
      spellCheck={false}
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
