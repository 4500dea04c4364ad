/**
 * The canvas on a synthetic graph, for measuring: `?bench=2000` draws ours, `?bench=2000&plain` the same cards in plain
 * React Flow with every node mounted. `tests/e2e/bench-canvas.mjs` drives both with real gestures. It needs no host.
 */
import {
  Background,
  Controls,
  ReactFlow,
  ReactFlowProvider,
  useEdgesState,
  useNodesState,
  type Edge,
  type Node,
} from "@xyflow/react";
import { useState } from "react";
import { AppProviders } from "../../components/AppProviders";
import { openGraph } from "../../document/open-graph";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { replaceHost } from "../../ipc/client";
import type { Host } from "../../ipc/host";
import { useSession } from "../../state/session";
import { Canvas } from "../Canvas";
import { EndPill, NodeCard } from "../NodeCard";
import { scene } from "../scene";

/** Nothing is searched for while the canvas is measured. */
const NoSearch = () => null;

declare global {
  interface Window {
    /** From the records to the first cards on the screen, in milliseconds. */
    superstepFirstPaint?: number;
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

/** Says when the first cards are on the screen. */
async function sayFirstPaint(begun: number): Promise<void> {
  while (!document.querySelector(".react-flow__node [data-testid^=node-]")) await frame();
  await frame();
  await frame();
  window.superstepFirstPaint = performance.now() - begun;
}

export function Bench({ query }: { query: URLSearchParams }) {
  const count = Number(query.get("bench")) || 500;
  useState(() => {
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
    void sayFirstPaint(start);
    return null;
  });
  return (
    <AppProviders>
      <div style={{ display: "flex", height: "100%" }}>
        {query.has("plain") ? (
          <ReactFlowProvider>
            <Plain />
          </ReactFlowProvider>
        ) : (
          <Canvas NodeSearch={NoSearch} />
        )}
      </div>
    </AppProviders>
  );
}

const PLAIN_TYPES = { card: NodeCard, pill: EndPill };

/** The same cards and edges in React Flow as it comes; the wheel pans and Ctrl with it zooms, as on our canvas. */
function Plain() {
  const [nodes, , onNodesChange] = useNodesState<Node>(
    [...scene.rects()].map(([id, rect]) => ({
      id,
      type: id.startsWith("__") ? "pill" : "card",
      position: { x: rect.x, y: rect.y },
      width: rect.width,
      height: rect.height,
      data: {},
    })),
  );
  const [edges, , onEdgesChange] = useEdgesState<Edge>(
    [...scene.lines().values()].map((line) => ({ id: line.id, source: line.from, target: line.to })),
  );
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      onNodesChange={onNodesChange}
      onEdgesChange={onEdgesChange}
      nodeTypes={PLAIN_TYPES}
      minZoom={0.01}
      panOnScroll
      zoomOnDoubleClick={false}
    >
      <Background />
      <Controls />
    </ReactFlow>
  );
}
