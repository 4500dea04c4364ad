/**
 * A graph to look at: cards, lines and notes of a scene, with what an overlay says of them and marks of what differs.
 * Nothing can be edited here.
 */
import { ReactFlow, useReactFlow, useStore, ViewportPortal } from "@xyflow/react";
import { memo, useEffect, type CSSProperties } from "react";
import { cx } from "../components/cx";
import { KindIcon } from "../components/KindIcon";
import { IDLE_NODE, type Overlay, wayOverlay } from "../debugger/overlay/overlay-model";
import { followPinsOf } from "../debugger/run/pins";
import type { Change } from "../document/diff";
import { disabledOf } from "../document/disabled";
import { allPorts, type Ports } from "../document/ports";
import { END, nodeOf, NOTE, START, type Json } from "../document/types";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { cardRows, LABEL_HEIGHT, portOf, portsHeight, type Rect } from "./geometry";
import { useKind } from "./kinds";
import { countAt, shapeOf } from "./line-path";
import { CardRows, cardStyle, Counts, DisabledMark, StateMark, stateText } from "./NodeCard";
import { PortRows } from "./NodePorts";
import { PinMark } from "./PinMark";
import { NoteFace } from "./NoteCard";
import { noteOf } from "./notes";
import { cardWords, NodeName } from "./NodeName";
import {
  cardClass,
  cardHeadClass,
  cardIconClass,
  cardSubClass,
  cardWordsClass,
  diffLineClass,
  diffSignClass,
  endPillClass,
  lineCountClass,
  lineLabelClass,
} from "./recipes";
import { drawingAt, fitView, MAX_ZOOM, MIN_ZOOM, OVERVIEW_ZOOM, stepsBelow, unzoomAt } from "./viewport";
import { headPath, meaningOf, shownLabel, startOf, type Line } from "./lines";
import type { Scene } from "./window";

const NO_ROWS: readonly string[] = [];
const NONE: never[] = [];
const NO_MARKS: ReadonlyMap<string, Change> = new Map();

interface StillGraphProps {
  readonly scene: Scene;
  readonly overlay: Overlay;
  /** By record: how it differs. */
  readonly marks?: ReadonlyMap<string, Change>;
  /** The file of the graph, when it is shown as runs use it: its pinned nodes are marked. */
  readonly graph?: string | undefined;
}

export function StillGraph({ scene, overlay, marks = NO_MARKS, graph }: StillGraphProps) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  // There are no blocks here: what is smaller yet keeps the middle drawing.
  const drawing = useStore(({ transform }) => (drawingAt(transform[2]) === "near" ? "near" : "middle"));
  const steps = useStore(({ transform }) => stepsBelow(Math.max(OVERVIEW_ZOOM, transform[2])));
  useEffect(() => {
    const bounds = scene.bounds();
    if (bounds && width > 0 && height > 0) void flow.setViewport(fitView(bounds, { width, height }, 64));
  }, [flow, scene, width, height]);
  return (
    <ReactFlow
      nodes={NONE}
      edges={NONE}
      minZoom={MIN_ZOOM}
      maxZoom={MAX_ZOOM}
      panOnScroll
      zoomOnDoubleClick={false}
      disableKeyboardA11y
      attributionPosition="bottom-right"
    >
      <ViewportPortal>
        <div
          className="absolute top-0 left-0"
          data-drawing={drawing}
          style={{ "--unzoom": unzoomAt(steps) } as CSSProperties}
        >
          <StillParts scene={scene} overlay={overlay} marks={marks} graph={graph} />
        </div>
      </ViewportPortal>
    </ReactFlow>
  );
}

/** Frames, lines, labels and cards of a scene, at their places in it. */
export const StillParts = memo(function StillParts({
  scene,
  overlay,
  marks = NO_MARKS,
  graph,
}: StillGraphProps) {
  useEffect(() => {
    if (graph !== undefined) followPinsOf(graph);
  }, [graph]);
  const lines = [...scene.lines().values()];
  return (
    <>
      {[...scene.rects()].map(([name, rect]) => (
        <StillNote key={name} name={name} rect={rect} record={scene.doc.get(`node:${name}`)} frames />
      ))}
      <svg className="absolute overflow-visible pointer-events-none size-px" aria-hidden>
        {lines.map((line) => (
          <StillLine key={line.id} line={line} scene={scene} overlay={overlay} mark={markOf(line, marks)} />
        ))}
      </svg>
      {lines.map((line) => (
        <StillLabel key={line.id} line={line} scene={scene} overlay={overlay} mark={markOf(line, marks)} />
      ))}
      {[...scene.rects()].map(([name, rect]) => (
        <StillNode
          key={name}
          name={name}
          rect={rect}
          record={scene.doc.get(`node:${name}`)}
          ports={scene.ports(name)}
          overlay={overlay.nodes.get(name) ?? IDLE_NODE}
          mark={marks.get(`node:${name}`)}
          graph={graph}
        />
      ))}
    </>
  );
});

const markOf = (line: Line, marks: ReadonlyMap<string, Change>) => marks.get(`edge:${line.edge}`);

const SIGNS: Record<Change, string> = { added: "+", removed: "−", changed: "~" };

/** The sign of a difference, which can be read without its colour. */
function Sign({ mark }: { mark: Change }) {
  return (
    <span className={diffSignClass} data-diff={mark} title={t(`versions.mark.${mark}`)}>
      <span aria-hidden>{SIGNS[mark]}</span>
      <span className="sr-only">{t(`versions.mark.${mark}`)}</span>
    </span>
  );
}

/** A note, or with `frames` what lies behind the lines. */
function StillNote({
  name,
  rect,
  record,
  frames = false,
}: {
  name: string;
  rect: Rect;
  record: Json | undefined;
  frames?: boolean;
}) {
  const note = noteOf(record);
  if (!note || note.frame !== frames) return null;
  const { x, y, width, height } = rect;
  return (
    <div
      className="pointer-events-none absolute"
      style={{ transform: `translate(${x}px, ${y}px)`, width, height }}
    >
      <NoteFace name={name} note={note} testId={shellIds.nestedNode(name)} />
    </div>
  );
}

const takenOf = (overlay: Overlay, line: Line) => wayOverlay(overlay.edges, line);

function shape(line: Line, scene: Scene) {
  const from = scene.rect(line.from);
  const to = scene.rect(line.to);
  if (!from || !to) return null;
  const end = portOf(to, "in");
  const start = startOf(line, from);
  return { end, count: countAt(line, start, end), ...shapeOf(line, start, end, false) };
}

interface StillLineProps {
  readonly line: Line;
  readonly scene: Scene;
  readonly overlay: Overlay;
  readonly mark: Change | undefined;
}

function StillLine({ line, scene, overlay, mark }: StillLineProps) {
  const drawn = shape(line, scene);
  if (!drawn) return null;
  const { times, active } = takenOf(overlay, line);
  return (
    <g
      className="line"
      data-state={active ? "active" : times > 0 ? "taken" : "idle"}
      data-form={line.form}
      data-means={meaningOf(line.form)}
      data-diff={mark}
    >
      <path className={cx("line-path", diffLineClass)} d={drawn.path} />
      <path className={cx("line-head", diffLineClass)} d={headPath(drawn.end)} />
    </g>
  );
}

function StillLabel({ line, scene, overlay, mark }: StillLineProps) {
  const drawn = shape(line, scene);
  const words =
    line.label === null || line.port !== null ? "" : shownLabel(line.form, line.isDefault, line.label);
  const { times } = takenOf(overlay, line);
  if (!drawn || (words === "" && times <= 1 && mark === undefined)) return null;
  const at = (x: number, y: number) => ({ transform: `translate(${x}px, ${y}px)` });
  return (
    <>
      {words !== "" && (
        <span
          className={cx(lineLabelClass, "pointer-events-none!")}
          data-form={line.form}
          data-default={line.isDefault || undefined}
          data-state={times > 0 ? "taken" : "idle"}
          style={{ ...at(drawn.label.x, drawn.label.y - LABEL_HEIGHT / 2), width: drawn.labelWidth }}
          title={words}
        >
          {words}
        </span>
      )}
      {mark !== undefined && (
        <span className="absolute top-0 left-0" style={at(drawn.label.x - 8, drawn.label.y - 8)}>
          <Sign mark={mark} />
        </span>
      )}
      {times > 1 && (
        <span className={cx(lineCountClass, "tabular-nums")} style={at(drawn.count.x, drawn.count.y)}>
          ×{times}
        </span>
      )}
    </>
  );
}

interface StillNodeProps {
  readonly name: string;
  readonly rect: Rect;
  readonly record: Json | undefined;
  readonly ports: Ports;
  readonly overlay: typeof IDLE_NODE;
  readonly mark: Change | undefined;
  readonly graph: string | undefined;
}

const StillNode = memo(function StillNode({
  name,
  rect,
  record,
  ports,
  overlay,
  mark,
  graph,
}: StillNodeProps) {
  const node = nodeOf(record);
  const kind = useKind(node.kind);
  const style = {
    position: "absolute",
    transform: `translate(${rect.x}px, ${rect.y}px)`,
    width: rect.width,
    height: rect.height,
  } as const;
  if (name === START || name === END)
    return (
      <div style={style}>
        <div className={endPillClass} data-end={name === START ? "start" : "end"} data-state={overlay.state}>
          {t(name === START ? "canvas.start" : "canvas.end")}
        </div>
      </div>
    );
  if (node.kind === NOTE) return <StillNote name={name} rect={rect} record={record} />;
  const rows = cardRows(node, kind?.card ?? NO_ROWS);
  const body = { rows: rows.length, ports: allPorts(ports).length, caption: ports.expression !== null };
  const disabled = disabledOf(record) !== null;
  const words = cardWords(name, node, kind?.title ?? node.kind);
  return (
    <div style={style} data-inner={name}>
      <div
        className={cx(cardClass, "pointer-events-none")}
        data-state={overlay.state}
        data-quiet={(overlay.state === "idle" && overlay.runs === 0) || undefined}
        data-group={kind?.group ?? "unknown"}
        data-disabled={disabled || undefined}
        data-diff={mark}
        data-testid={shellIds.nestedNode(name)}
        style={cardStyle(words.large, portsHeight(body), rows.length)}
        aria-label={t("canvas.node.label", {
          name,
          kind: kind?.title ?? node.kind,
          state: stateText(overlay),
        })}
      >
        <div className={cardHeadClass}>
          <span className={cardIconClass}>
            <KindIcon icon={kind?.icon ?? "box"} />
          </span>
          <div className={cardWordsClass}>
            <NodeName name={words.large} />
            <span className={cardSubClass}>
              <span className="min-w-0 truncate">{words.small}</span>
              <Counts overlay={overlay} />
            </span>
          </div>
          <StateMark overlay={overlay} />
        </div>
        <CardRows rows={rows} />
        <PortRows {...ports} />
        {disabled ? <DisabledMark /> : graph !== undefined && <PinMark name={name} graph={graph} />}
        {mark !== undefined && (
          <span className="absolute -top-2 -left-2">
            <Sign mark={mark} />
          </span>
        )}
      </div>
    </div>
  );
});
