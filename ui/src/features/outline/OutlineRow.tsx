/** One row of the outline, with what can be done to its node. */
import { CircleAlert, Flag, MoreHorizontal, Play, TriangleAlert } from "lucide-react";
import { memo, useState } from "react";
import { addNodeAt, connectFrom } from "../../canvas/actions";
import { renameEverywhere } from "../../canvas/records";
import { IconButton } from "../../components/IconButton";
import { KindIcon } from "../../components/KindIcon";
import { Menu, type MenuEntry } from "../../components/Menu";
import { connect, nodeNameProblem } from "../../document/edits";
import { doc, edit, useDiagnostics, useRecord } from "../../document/store";
import { edgeOf, END, nodeOf, START } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { nodeText, type NodeRow, type Row } from "./rows";

/** More targets than this are searched for instead of listed. */
const MOST_TARGETS = 200;

export interface RowActions {
  open(row: Row): void;
  activate(row: Row): void;
  rename(name: string | null): void;
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
  const recordId = row.kind === "node" ? `node:${row.name}` : `edge:${row.edge}`;
  const record = useRecord(recordId);
  const found = useDiagnostics(recordId);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const failed = found.some((problem) => problem.severity === "error");
  const node = row.kind === "node" ? nodeOf(record) : null;
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
      tabIndex={current ? 0 : -1}
      className="outline-row"
      data-level={row.level}
      data-testid={row.kind === "node" ? formsIds.outlineNode(row.name) : formsIds.outlineEdge(row.edge)}
      onClick={() => actions.open(row)}
      onFocus={() => actions.activate(row)}
      onDoubleClick={() => {
        if (row.kind === "node" && !terminal) actions.rename(row.name);
      }}
    >
      {row.kind === "edge" ? (
        <span className="outline-arrow" aria-hidden>
          →
        </span>
      ) : row.name === START ? (
        <Play size={14} aria-hidden />
      ) : row.name === END ? (
        <Flag size={14} aria-hidden />
      ) : (
        <KindIcon icon={kinds?.find((kind) => kind.kind === node?.kind)?.icon ?? "box"} size={14} />
      )}
      {row.kind === "node" && renaming ? (
        <RenameInput name={row.name} onDone={() => actions.rename(null)} />
      ) : (
        <span className="outline-name">{nodeText(row.kind === "node" ? row.name : row.target)}</span>
      )}
      {row.kind === "edge" && row.mark !== "" && <span className="outline-mark">{row.mark}</span>}
      {node?.title !== undefined && <span className="outline-title">{node.title}</span>}
      {found.length > 0 && (
        <Problem
          size={13}
          className={failed ? "outline-failed" : "outline-warned"}
          aria-label={t("forms.outline.problems")}
        />
      )}
      {row.kind === "node" && row.name !== END && (
        <RowMenu
          row={row}
          terminal={terminal}
          onRename={() => actions.rename(row.name)}
          onDelete={() => actions.remove(row)}
        />
      )}
    </div>
  );
});

function RowMenu({
  row,
  terminal,
  onRename,
  onDelete,
}: {
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
  const targets = (): MenuEntry[] => {
    const nodes = doc.names("node");
    return [
      { id: "heading", heading: t("forms.outline.connectTo") },
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
