/**
 * The graphs that nodes run, and the way into them and back: each graph that was left by opening one of its nested
 * graphs, the outermost first. A graph that is opened in any other way begins without a way back.
 */
import { create } from "zustand";
import { rpc } from "../ipc/client";
import { resolvePath, splitPath } from "../lib/path";
import { useSession } from "../state/session";
import { showProblem } from "../state/toasts";
import { useTabs } from "../state/tabs";
import { doc, useDocumentState } from "./store";
import { openGraph, settle } from "./open-graph";
import { END, GRAPH, nodeOf, START } from "./types";

interface LeftGraph {
  readonly graphId: string;
  readonly name: string;
  readonly path: string | null;
  /** The node whose graph was opened. */
  readonly node: string;
}

interface Trail {
  readonly left: readonly LeftGraph[];
  /** The graph that the way leads to. */
  readonly at: string | null;
}

const NOWHERE: Trail = { left: [], at: null };

export const useGraphTrail = create<Trail>()(() => NOWHERE);

/** The way into each graph that has a tab. */
const trails = new Map<string, readonly LeftGraph[]>();

useSession.subscribe(({ graphId }) => {
  if (useGraphTrail.getState().at === graphId) return;
  const left = graphId === null ? undefined : trails.get(graphId);
  useGraphTrail.setState(left ? { left, at: graphId } : { ...NOWHERE, at: graphId });
});

useTabs.subscribe(({ tabs }) => {
  for (const graphId of trails.keys())
    if (!tabs.some((tab) => tab.graphId === graphId)) trails.delete(graphId);
});

/** The file of the graph that a node runs; null for a node that runs none, and in a draft, which has no folder. */
export function nestedGraphOf(name: string): string | null {
  const { kind, config } = nodeOf(doc.get(`node:${name}`));
  const { path } = useDocumentState.getState();
  const file = config["graph"];
  if (kind !== GRAPH || path === null || typeof file !== "string" || file === "") return null;
  return resolvePath(splitPath(path).dir, file);
}

/** Opens the graph that a node runs, with one of its own nodes selected. */
export async function openNestedGraph(node: string, inner: string | null = null): Promise<void> {
  const file = nestedGraphOf(node);
  const { graphId, path } = useDocumentState.getState();
  if (file === null || graphId === null) return;
  const left = [...useGraphTrail.getState().left, { graphId, name: doc.name, path, node }];
  try {
    await settle();
    const view = await rpc("graph.open", { path: file });
    openGraph(view);
    trails.set(view.graphId, left);
    useGraphTrail.setState({ left, at: view.graphId });
    if (inner !== null && (inner === START || inner === END || doc.has(`node:${inner}`)))
      useSession.getState().select({ nodes: [inner] });
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Opens a graph of the way again, with the node selected whose graph was opened; without `depth` the one around. */
export async function leaveNestedGraph(depth = useGraphTrail.getState().left.length - 1): Promise<void> {
  const { left } = useGraphTrail.getState();
  const to = left[depth];
  if (!to) return;
  try {
    await settle();
    const view = await rpc("graph.get", { graphId: to.graphId }).catch((thrown: unknown) => {
      // The host was started again, and knows the file but not its id.
      if (to.path === null) throw thrown;
      return rpc("graph.open", { path: to.path });
    });
    openGraph(view);
    trails.set(view.graphId, left.slice(0, depth));
    useGraphTrail.setState({ left: left.slice(0, depth), at: view.graphId });
    if (doc.get(`node:${to.node}`) !== undefined) useSession.getState().select({ nodes: [to.node] });
  } catch (thrown) {
    showProblem(thrown);
  }
}
