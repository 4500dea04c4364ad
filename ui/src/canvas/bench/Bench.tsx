/**
 * The canvas on a synthetic graph, for measuring: `?bench=2000` draws ours, `?bench=2000&plain` the same cards in plain
 * React Flow with every node mounted. `window.superstepBench` runs the measurements; `tests/e2e/bench-canvas.mjs` asks
 * for them. It needs no host.
 */
import { Background, ReactFlow, ReactFlowProvider, useReactFlow, type Edge, type Node } from "@xyflow/react";
import { useEffect, useState } from "react";
import { AppProviders } from "../../components/AppProviders";
import { openGraph } from "../../document/open-graph";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { replaceHost } from "../../ipc/client";
import type { Host } from "../../ipc/host";
import { useSession } from "../../state/session";
import { fit } from "../actions";
import { Canvas } from "../Canvas";
import { EndPill, NodeCard } from "../NodeCard";
import { scene } from "../scene";
import { setCanvas, STILL } from "../store";
import type { ViewHub } from "../view";

/** Nothing is searched for while the canvas is measured. */
const NoSearch = () => null;

interface Timings {
  readonly firstPaint: number;
  readonly panP50: number;
  readonly panP95: number;
  readonly dragP95: number;
  readonly fit: number;
  readonly mounted: number;
}

declare global {
  interface Window {
    superstepBench?: () => Promise<Timings>;
  }
}

const KIND: NodeKind = {
  kind: "assign",
  title: "Assign",
  summary: "",
  icon: "equal",
  group: "state",
  aliases: [],
  configSchema: {},
  defaults: {},
  card: ["/set"],
  inside: false,
};

const SILENT: Host = {
  kind: "web",
  rpc: () => new Promise(() => {}),
  subscribe: () => () => {},
  watchConnection: () => () => {},
  setTitle: () => {},
};

/** A grid with 1.15 edges for each node. */
function records(count: number): { id: string; value: unknown }[] {
  const columns = Math.ceil(Math.sqrt(count * 1.6));
  const out: { id: string; value: unknown }[] = [
    { id: "doc", value: { format: "superstep/1", name: "Bench" } },
  ];
  for (let i = 0; i < count; i += 1) {
    out.push({
      id: `node:n${i}`,
      value: { kind: "assign", config: { set: { total: `state.total + ${i}`, last: `'n${i}'` } } },
    });
  }
  for (let i = 1; i < count; i += 1) {
    out.push({ id: `edge:n${i - 1}->n${i}`, value: { from: `n${i - 1}`, to: `n${i}` } });
    if (i % 7 === 0 && i + columns < count)
      out.push({ id: `edge:n${i}->n${i + columns}`, value: { from: `n${i}`, to: `n${i + columns}` } });
  }
  for (let i = 0; i < count; i += 1) {
    out.push({ id: `layout:n${i}`, value: [(i % columns) * 304, Math.floor(i / columns) * 160] });
  }
  out.push({ id: "layout:__start__", value: [-160, 8] }, { id: "layout:__end__", value: [columns * 304, 8] });
  return out;
}

const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
/** Until what was asked for is on the screen. */
const painted = async () => {
  await frame();
  await frame();
};

function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
}

async function frames(count: number, step: (index: number) => void): Promise<number[]> {
  const out: number[] = [];
  let last = await frame();
  for (let index = 0; index < count; index += 1) {
    step(index);
    const now = await frame();
    out.push(now - last);
    last = now;
  }
  return out;
}

interface Subject {
  move(x: number, y: number): void;
  drag(dx: number): void;
  drop(): void;
  fit(): void;
}

async function measure(begun: number, subject: Subject): Promise<Timings> {
  while (!document.querySelector(".react-flow__node .card")) await frame();
  await painted();
  const firstPaint = performance.now() - begun;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const pan = await frames(120, (i) => subject.move(-i * 24, -i * 8));
  const mounted = document.querySelectorAll(".react-flow__node").length;
  subject.move(0, 0);
  await painted();
  const drag = await frames(90, (i) => subject.drag(i * 3));
  subject.drop();
  await painted();
  const before = performance.now();
  subject.fit();
  await painted();
  const fitted = performance.now() - before;
  return {
    firstPaint,
    panP50: percentile(pan, 0.5),
    panP95: percentile(pan, 0.95),
    dragP95: percentile(drag, 0.95),
    fit: fitted,
    mounted,
  };
}

export function Bench({ query }: { query: URLSearchParams }) {
  const count = Number(query.get("bench")) || 500;
  const [begun] = useState(() => {
    replaceHost(SILENT);
    document.documentElement.dataset["theme"] = "light";
    useSession.setState({
      appInfo: {
        version: "",
        dataDir: "",
        graphsDir: "",
        examples: [],
        recents: [],
        kinds: [KIND],
        settings: { theme: "light", language: "en", follow: false, welcomed: true },
        open: [],
      },
    });
    const start = performance.now();
    openGraph({
      graphId: "bench",
      name: "Bench",
      records: records(count),
      rev: 1,
      savedRev: 1,
      diagnostics: [],
      leads: {},
    });
    return start;
  });
  return (
    <AppProviders>
      <div style={{ display: "flex", height: "100%" }}>
        {query.has("plain") ? (
          <ReactFlowProvider>
            <Plain begun={begun} />
          </ReactFlowProvider>
        ) : (
          <Ours begun={begun} />
        )}
      </div>
    </AppProviders>
  );
}

function Ours({ begun }: { begun: number }) {
  const [onView] = useState(() => (hub: ViewHub) => {
    const at = scene.position("n1");
    window.superstepBench = () =>
      measure(begun, {
        move: (x, y) => hub.move({ x, y, zoom: 1 }),
        drag: (dx) => setCanvas({ moving: new Map([["n1", { x: at.x + dx, y: at.y }]]) }),
        drop: () => setCanvas({ moving: STILL }),
        fit,
      });
  });
  return <Canvas NodeSearch={NoSearch} onView={onView} />;
}

const PLAIN_TYPES = { card: NodeCard, pill: EndPill };

function Plain({ begun }: { begun: number }) {
  const flow = useReactFlow();
  const [nodes, setNodes] = useState<Node[]>(() =>
    [...scene.rects()].map(([id, rect]) => ({
      id,
      type: id.startsWith("__") ? "pill" : "card",
      position: { x: rect.x, y: rect.y },
      width: rect.width,
      height: rect.height,
      data: {},
    })),
  );
  const [edges] = useState<Edge[]>(() =>
    [...scene.lines().values()].map((line) => ({ id: line.id, source: line.from, target: line.to })),
  );
  useEffect(() => {
    const at = scene.position("n1");
    const place = (x: number) =>
      setNodes((all) => all.map((node) => (node.id === "n1" ? { ...node, position: { x, y: at.y } } : node)));
    window.superstepBench = () =>
      measure(begun, {
        move: (x, y) => void flow.setViewport({ x, y, zoom: 1 }),
        drag: (dx) => place(at.x + dx),
        drop: () => place(at.x),
        fit: () => void flow.fitView(),
      });
  }, [flow, begun]);
  return (
    <ReactFlow nodes={nodes} edges={edges} nodeTypes={PLAIN_TYPES} minZoom={0.01} zoomOnDoubleClick={false}>
      <Background />
    </ReactFlow>
  );
}
