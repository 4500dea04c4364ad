/**
 * The graph that a node runs, in the place of the one around it: its document to look at, and over it what its steps in
 * this thread say. Nothing can be edited here; the graph itself is opened from the node's settings.
 */
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore, ViewportPortal } from "@xyflow/react";
import { memo, useEffect, useMemo, useState } from "react";
import { KindIcon } from "../components/KindIcon";
import { type Level, asSnapshot } from "../debugger/model/nested";
import {
  computeOverlay,
  edgeKey,
  IDLE_EDGE,
  IDLE_NODE,
  type Overlay,
} from "../debugger/overlay/overlay-model";
import { ProblemNote } from "../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../debugger/parts/problem";
import { useStatus } from "../debugger/model/runStore";
import { useWithin } from "../debugger/timeline/useWithin";
import { disabledOf } from "../document/disabled";
import { GraphDocument } from "../document/document";
import { END, nodeOf, NOTE, START, type Json } from "../document/types";
import type { InsideView } from "../ipc/bindings/InsideView";
import { rpc } from "../ipc/client";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { arrange } from "./arrange";
import { cardRows, LABEL_HEIGHT, portOf, type Rect } from "./geometry";
import { cardsOf, knownKinds, useKind } from "./kinds";
import { shapeOf } from "./line-path";
import { moveNodes } from "../document/edits";
import { NoteFace } from "./NoteCard";
import { noteOf } from "./notes";
import { PortRows } from "./NodePorts";
import type { Ports } from "../document/ports";
import { CardRows, Counts, DisabledMark, StateMark, stateText } from "./NodeCard";
import { Scene } from "./window";
import { shownLabel, startOf, type Line } from "./lines";
import { fitView, MAX_ZOOM, MIN_ZOOM } from "./viewport";
import {
  canvasClass,
  cardClass,
  cardHeadClass,
  cardIconClass,
  cardSubClass,
  endPillClass,
  lineCountClass,
  lineLabelClass,
} from "./recipes";
import { cx } from "../components/cx";

const NO_ROWS: readonly string[] = [];
const NONE: never[] = [];

export function NestedCanvas({ threadId, path }: { threadId: string; path: readonly Level[] }) {
  const graphId = useSession((session) => session.graphId);
  const names = JSON.stringify(path.map(({ node }) => node));
  const [read, setRead] = useState<{ scene: Scene | null; problem: ShownProblem | null }>({
    scene: null,
    problem: null,
  });
  useEffect(() => {
    if (graphId === null) return;
    const abort = new AbortController();
    rpc("graph.inside", { graphId, path: JSON.parse(names) as string[] }, abort.signal)
      .then(sceneOf)
      .then(
        (scene) => (abort.signal.aborted ? undefined : setRead({ scene, problem: null })),
        (thrown: unknown) => {
          if (!abort.signal.aborted) setRead({ scene: null, problem: asProblem(thrown) });
        },
      );
    return () => abort.abort();
  }, [graphId, names]);
  const ns = path.at(-1)?.ns ?? "";
  return (
    <div className={canvasClass} tabIndex={-1} data-testid={shellIds.nestedCanvas} data-ns={ns}>
      {read.problem && <ProblemNote problem={read.problem} />}
      {read.scene && (
        <ReactFlowProvider>
          <NestedGraph key={ns} scene={read.scene} threadId={threadId} ns={ns} />
        </ReactFlowProvider>
      )}
    </div>
  );
}

/** The document as what is where; arranged when nobody has placed its nodes. */
async function sceneOf(view: InsideView): Promise<Scene> {
  const document = new GraphDocument();
  document.reset(view.records as { id: string; value: Json }[]);
  const scene = new Scene(document);
  scene.setCards(cardsOf(knownKinds()));
  if (document.names("layout").length === 0) document.apply(moveNodes(document, await arrange(scene)));
  return scene;
}

function NestedGraph({ scene, threadId, ns }: { scene: Scene; threadId: string; ns: string }) {
  const { steps } = useWithin(threadId, ns);
  const running = useStatus(threadId) === "running";
  const overlay = useMemo(() => {
    const snapshot = asSnapshot(threadId, steps);
    return computeOverlay({ ...(snapshot && { snapshot }), now: true, running, breakpoints: NONE });
  }, [threadId, steps, running]);
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
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
        {[...scene.rects()].map(([name, rect]) => (
          <NestedNote key={name} name={name} rect={rect} record={scene.doc.get(`node:${name}`)} frames />
        ))}
        <svg className="absolute overflow-visible pointer-events-none size-px" aria-hidden>
          {[...scene.lines().values()].map((line) => (
            <NestedLine key={line.id} line={line} scene={scene} overlay={overlay} />
          ))}
        </svg>
        {[...scene.lines().values()].map((line) => (
          <NestedLabel key={line.id} line={line} scene={scene} overlay={overlay} />
        ))}
        {[...scene.rects()].map(([name, rect]) => (
          <NestedNode
            key={name}
            name={name}
            rect={rect}
            record={scene.doc.get(`node:${name}`)}
            ports={scene.ports(name)}
            overlay={overlay.nodes.get(name) ?? IDLE_NODE}
          />
        ))}
      </ViewportPortal>
    </ReactFlow>
  );
}

/** A note, or with `frames` what lies behind the lines. */
function NestedNote({
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

const takenOf = (overlay: Overlay, line: Line) => overlay.edges.get(edgeKey(line.from, line.to)) ?? IDLE_EDGE;

function shape(line: Line, scene: Scene) {
  const from = scene.rect(line.from);
  const to = scene.rect(line.to);
  if (!from || !to) return null;
  const end = portOf(to, "in");
  return { end, ...shapeOf(line, startOf(line, from), end, false) };
}

function NestedLine({ line, scene, overlay }: { line: Line; scene: Scene; overlay: Overlay }) {
  const drawn = shape(line, scene);
  if (!drawn) return null;
  const { times, active } = takenOf(overlay, line);
  return (
    <g className="line" data-state={active ? "active" : times > 0 ? "taken" : "idle"} data-form={line.form}>
      <path className="line-path" d={drawn.path} />
      <path className="line-head" d={`M${drawn.end.x},${drawn.end.y} l-8,-4.5 v9 z`} />
    </g>
  );
}

function NestedLabel({ line, scene, overlay }: { line: Line; scene: Scene; overlay: Overlay }) {
  const drawn = shape(line, scene);
  const words =
    line.label === null || line.port !== null ? "" : shownLabel(line.form, line.isDefault, line.label);
  const { times } = takenOf(overlay, line);
  if (!drawn || (words === "" && times <= 1)) return null;
  const at = (x: number, y: number) => ({ transform: `translate(${x}px, ${y}px)` });
  return (
    <>
      {words !== "" && (
        <span
          className={cx(lineLabelClass, "pointer-events-none!")}
          data-form={line.form}
          data-default={line.isDefault || undefined}
          data-state={times > 0 ? "taken" : "idle"}
          style={{ ...at(drawn.label.x, drawn.label.y - LABEL_HEIGHT / 2), width: line.labelWidth }}
          title={words}
        >
          {words}
        </span>
      )}
      {times > 1 && (
        <span className={cx(lineCountClass, "tabular-nums")} style={at(drawn.end.x - 40, drawn.end.y - 18)}>
          ×{times}
        </span>
      )}
    </>
  );
}

interface NestedNodeProps {
  readonly name: string;
  readonly rect: Rect;
  readonly record: Json | undefined;
  readonly ports: Ports;
  readonly overlay: typeof IDLE_NODE;
}

const NestedNode = memo(function NestedNode({ name, rect, record, ports, overlay }: NestedNodeProps) {
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
        <div className={endPillClass} data-state={overlay.state}>
          {t(name === START ? "canvas.start" : "canvas.end")}
        </div>
      </div>
    );
  if (node.kind === NOTE) return <NestedNote name={name} rect={rect} record={record} />;
  const rows = cardRows(node, kind?.card ?? NO_ROWS);
  const disabled = disabledOf(record) !== null;
  return (
    <div style={style}>
      <div
        className={cx(cardClass, "pointer-events-none")}
        data-state={overlay.state}
        data-quiet={(overlay.state === "idle" && overlay.runs === 0) || undefined}
        data-group={kind?.group ?? "unknown"}
        data-disabled={disabled || undefined}
        data-testid={shellIds.nestedNode(name)}
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
          <div className="flex-1 min-w-0 flex flex-col">
            <span className="text-sm/[17px] font-semibold truncate">{name}</span>
            <span className={cardSubClass}>
              <span className="min-w-0 truncate">{node.title ?? kind?.title ?? node.kind}</span>
              <Counts overlay={overlay} />
            </span>
          </div>
          <StateMark overlay={overlay} />
        </div>
        <CardRows rows={rows} />
        <PortRows {...ports} />
        {disabled && <DisabledMark />}
      </div>
    </div>
  );
});
