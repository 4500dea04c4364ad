/**
 * One line of an edge: drawn from the scene's plan, with its label as a pill that is edited in place. Taken lines are
 * stronger and carry their count; only the line that is being followed right now moves.
 */
import { BaseEdge, EdgeLabelRenderer, type Edge, type EdgeProps } from "@xyflow/react";
import { Plus } from "lucide-react";
import { memo, type CSSProperties, type MouseEvent } from "react";
import { useMergedOverlay, useWayOverlay } from "../debugger/overlay/overlay";
import { type Point } from "../document/edits";
import { renamePath, setExpression } from "../document/edge-edits";
import { edit } from "../document/edit";
import { useDiagnostics } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { addBetween, setBound } from "./adding";
import { LABEL_HEIGHT } from "./geometry";
import { LabelEditor, onScreen } from "./LabelEditor";
import { countAt, shapeOf } from "./line-path";
import { hoverLine } from "./hover";
import { selectLine } from "./line-selection";
import { setCanvas, useCanvas } from "./store";
import { headPath, meaningOf, shownLabel, type Line } from "./lines";
import { lineCountClass, lineLabelClass, linePlusClass } from "./recipes";
import { cx } from "../components/cx";

interface LineData extends Record<string, unknown> {
  readonly line: Line;
  /** One of its ends is being dragged. */
  readonly moving: boolean;
  /** All lines that it is drawn for where it ends at a folded frame; none when it is drawn for itself alone. */
  readonly merged: readonly Line[];
}

const ALONE: readonly Line[] = [];
const NO_WAY = { from: "", to: "" };

export type LineEdge = Edge<LineData, "line">;

/** Half a port: React Flow's line ends are at the outer side of the ports, ours at the border of the card. */
const HALF_PORT = 5;

export const GraphLine = memo(function GraphLine(props: EdgeProps<LineEdge>) {
  const { id, data, selected } = props;
  const line = data?.line;
  const merged = data?.merged ?? ALONE;
  const own = useWayOverlay(line ?? NO_WAY);
  const all = useMergedOverlay(merged);
  const overlay = merged.length > 0 ? all : own;
  const splice = useCanvas((state) => state.splice === id);
  const hovered = useCanvas((state) => state.hovered === id);
  const carried = useCanvas((state) => state.wiring?.carried.some((each) => each.id === id) === true);
  const failing = line?.form === "error";
  const problems = useDiagnostics(failing ? `node:${line.from}` : `edge:${line?.edge ?? ""}`);
  if (!line) return null;
  const from = { x: props.sourceX - HALF_PORT, y: props.sourceY };
  const to = { x: props.targetX + HALF_PORT, y: props.targetY };
  const shape = shapeOf(line, from, to, data.moving);
  const counted = overlay.times > 1 || (line.form === "each" && overlay.times > 0);
  const count = counted ? countAt(line, from, to) : null;
  const meaning = meaningOf(line.form);
  const taken = overlay.times > 0;
  const state = overlay.active ? "active" : taken ? "taken" : "idle";
  const failed = problems.some(
    ({ severity, pointer }) =>
      severity === "error" && (!failing || pointer?.startsWith("/fallback") === true),
  );
  // The label of a named port stands on the card.
  const labelled = line.label !== null && line.port === null;
  return (
    <>
      <g
        className="line"
        data-state={state}
        data-form={line.form}
        data-means={meaning}
        data-selected={selected || undefined}
        data-splice={splice || undefined}
        data-failed={failed || undefined}
        data-carried={carried || undefined}
      >
        <title>
          {merged.length > 0 ? t("folds.lines", { n: merged.length }) : t(`wires.means.${meaning}`)}
        </title>
        {line.form === "each" && (
          <>
            <path className="line-stack" d={shape.path} transform="translate(0 -3)" />
            <path className="line-stack" d={shape.path} transform="translate(0 3)" />
          </>
        )}
        <BaseEdge
          id={id}
          path={shape.path}
          interactionWidth={16}
          className="line-path"
          data-testid={shellIds.edge(line.edge, line.part)}
        />
        <path className="line-head" d={headPath(to)} />
        {labelled && shape.tether && (
          <path
            className="line-tether"
            d={`M${shape.tether[0].x},${shape.tether[0].y} L${shape.tether[1].x},${shape.tether[1].y}`}
          />
        )}
        {shape.join && (
          <path className="line-join" d={`M${shape.join.x},${shape.join.y - 9} v18`}>
            <title>{t("canvas.join.hint")}</title>
          </path>
        )}
      </g>
      {hovered && !data.moving && merged.length === 0 && (
        <AddBetween
          line={line}
          style={at(shape.middle.x - 10 - (line.bound === null ? 0 : BESIDE_BOUND), shape.middle.y - 10)}
        />
      )}
      {merged.length > 0 && (
        <EdgeLabelRenderer>
          <span
            className={cx(lineCountClass, "tabular-nums")}
            style={at(shape.middle.x - 24, shape.middle.y - 8)}
            data-testid={shellIds.mergedLines(line.edge, line.part)}
          >
            {t("folds.lines", { n: merged.length })}
          </span>
        </EdgeLabelRenderer>
      )}
      {(labelled || line.caption !== null || line.bound !== null || overlay.times > 1) && (
        <EdgeLabelRenderer>
          {line.caption !== null && (
            <Caption
              line={line}
              // It ends where its label does: behind that the wires of the choice rise.
              style={{
                ...at(shape.label.x + shape.labelWidth, shape.label.y - LABEL_HEIGHT / 2 - 20),
                translate: "-100% 0",
              }}
            />
          )}
          {line.bound !== null && <Bound line={line} most={line.bound} middle={shape.middle} />}
          {labelled && (
            <Label
              line={line}
              selected={selected ?? false}
              state={state}
              failed={failed}
              style={{ ...at(shape.label.x, shape.label.y - LABEL_HEIGHT / 2), width: shape.labelWidth }}
            />
          )}
          {count && (
            <span className={cx(lineCountClass, "tabular-nums")} style={at(count.x, count.y)}>
              ×{overlay.times}
            </span>
          )}
        </EdgeLabelRenderer>
      )}
    </>
  );
});

/** The button in the middle of a line makes room for its bound. */
const BESIDE_BOUND = 56;

const editorClass = "absolute top-0 left-0 pointer-events-auto origin-top-left z-4";

const editorSize = (width: number): CSSProperties => ({ width: onScreen(width), height: onScreen(22) });

function at(x: number, y: number): CSSProperties {
  return { transform: `translate(${x}px, ${y}px)` };
}

/** Adds a node into the line. */
function AddBetween({ line, style }: { line: Line; style: CSSProperties }) {
  return (
    <EdgeLabelRenderer>
      <button
        type="button"
        className={cx(linePlusClass, "nodrag nopan")}
        style={style}
        title={t("canvas.addBetween")}
        aria-label={t("canvas.addBetween")}
        onPointerEnter={() => hoverLine(line.id)}
        onPointerLeave={() => hoverLine(null)}
        onClick={(event) => addBetween(line, { x: event.clientX, y: event.clientY })}
        data-testid={shellIds.addBetween(line.edge, line.part)}
      >
        <Plus size={13} strokeWidth={2.5} aria-hidden />
      </button>
    </EdgeLabelRenderer>
  );
}

/** Selects what was clicked. The line takes clicks on what is drawn for it elsewhere too: it would select itself alone. */
function select(event: MouseEvent, line: Line, whole = false): void {
  event.stopPropagation();
  selectLine(line, event.shiftKey || event.ctrlKey || event.metaKey, whole);
}

/** The line takes double clicks as well, also those on what is drawn for it elsewhere: it would have its label edited. */
function editInPlace(event: MouseEvent, line: Line, what: "bound" | "caption"): void {
  event.stopPropagation();
  setCanvas({ labelEdit: { line: line.id, what } });
}

interface LabelProps {
  readonly line: Line;
  readonly selected: boolean;
  readonly state: string;
  readonly failed: boolean;
  readonly style: CSSProperties;
}

/** What a label that cannot be edited means. */
function titleOf({ form, isDefault }: Line): string | null {
  if (!isDefault) return null;
  return t(form === "limit" ? "canvas.label.limit" : "canvas.label.default");
}

function Label({ line, selected, state, failed, style }: LabelProps) {
  const editing = useCanvas(
    (canvas) => canvas.labelEdit?.line === line.id && canvas.labelEdit.what === "label",
  );
  const text = line.label ?? "";
  if (editing && !line.isDefault) {
    return (
      <LabelEditor
        value={text}
        className={editorClass}
        style={{ ...style, ...editorSize(180) }}
        onDone={(next) => {
          if (line.form === "route") {
            edit(t("canvas.edit.label"), (document) => renamePath(document, line.edge, text, next));
          } else {
            edit(t("canvas.edit.condition"), (document) => setExpression(document, line.edge, next));
          }
        }}
      />
    );
  }
  const words = shownLabel(line.form, line.isDefault, text);
  return (
    <button
      type="button"
      className={cx(lineLabelClass, "nodrag nopan")}
      data-line={line.id}
      data-form={line.form}
      data-default={line.isDefault || undefined}
      data-selected={selected || undefined}
      data-state={state}
      data-failed={failed || undefined}
      style={style}
      title={titleOf(line) ?? words}
      onClick={(event) => select(event, line)}
      onDoubleClick={() => setCanvas({ labelEdit: { line: line.id, what: "label" } })}
      data-testid={shellIds.edgeLabel(line.edge, line.part)}
    >
      {words === "" ? t("canvas.label.empty") : words}
    </button>
  );
}

/** How often the run may come to the target by this and other ways, set in place; nothing in the field takes it away. */
function Bound({ line, most, middle }: { line: Line; most: number; middle: Point }) {
  const editing = useCanvas(
    (canvas) => canvas.labelEdit?.line === line.id && canvas.labelEdit.what === "bound",
  );
  const style = { ...at(middle.x, middle.y - LABEL_HEIGHT / 2), translate: "-50% 0" };
  if (editing)
    return (
      <LabelEditor
        value={String(most)}
        className={editorClass}
        style={{ ...style, ...editorSize(72) }}
        onDone={(next) => setBound(line.to, next)}
      />
    );
  return (
    <button
      type="button"
      className={cx(lineLabelClass, "nodrag nopan rounded-sm! font-sans!")}
      data-line={line.id}
      style={style}
      title={t("canvas.bound.hint")}
      onClick={(event) => select(event, line)}
      onDoubleClick={(event) => editInPlace(event, line, "bound")}
      data-testid={shellIds.lineBound(line.edge, line.part)}
    >
      {t("canvas.bound", { most })}
    </button>
  );
}

function Caption({ line, style }: { line: Line; style: CSSProperties }) {
  const editing = useCanvas(
    (canvas) => canvas.labelEdit?.line === line.id && canvas.labelEdit.what === "caption",
  );
  if (editing) {
    return (
      <LabelEditor
        value={line.caption ?? ""}
        className={editorClass}
        style={{ ...style, ...editorSize(180) }}
        onDone={(next) =>
          edit(t("canvas.edit.condition"), (document) => setExpression(document, line.edge, next))
        }
      />
    );
  }
  return (
    <button
      type="button"
      className="absolute top-0 left-0 pointer-events-auto origin-top-left h-4.5 max-w-50 px-0.75 rounded-[3px] bg-canvas text-text-3 font-mono text-2xs/4.5 truncate hover:text-text nodrag nopan"
      data-line={line.id}
      style={style}
      title={t("canvas.caption.hint", { expression: line.caption ?? "" })}
      onClick={(event) => select(event, line, true)}
      onDoubleClick={(event) => editInPlace(event, line, "caption")}
      data-testid={shellIds.edgeCaption(line.edge, line.part)}
    >
      {line.caption === "" ? t("canvas.label.empty") : line.caption}
    </button>
  );
}
