/**
 * Graph nodes that a person has expanded in place: which, and what the graph that each runs looks like. Never of the
 * document; kept in this browser, by graph. Nothing is read or drawn for a node that is not expanded.
 */
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../debugger/parts/problem";
import type { DocumentRecord } from "../document/document";
import { flush } from "../document/open-graph";
import { doc, useDocumentState } from "../document/store";
import { GRAPH, nodeOf, NOTE } from "../document/types";
import { rpc } from "../ipc/client";
import { listed } from "../lib/intl";
import { t, tn } from "../lib/texts";
import { announce } from "../state/announce";
import { useSession } from "../state/session";
import type { Rect } from "./geometry";
import { showNode } from "./actions";
import { graphStore } from "./graph-store";
import { drawingOf, expandedCard, type Drawing } from "./inside-size";
import { scene } from "./scene";
import { sceneOf } from "./still-scene";
import type { Scene } from "./window";

/** A graph as it is drawn in the card of the node that runs it. */
export interface DrawnInside extends Drawing {
  readonly name: string;
  /** Its file. */
  readonly path: string | undefined;
  readonly records: readonly DocumentRecord[];
  readonly scene: Scene;
  readonly extent: Rect | null;
  /** Its nodes without notes, in the order of the file. */
  readonly nodes: readonly string[];
}

/** What came of reading the graph of a node. */
export type Inside =
  | { readonly drawn: DrawnInside; readonly problem?: undefined }
  | { readonly problem: ShownProblem; readonly drawn?: undefined };

type Insides = Readonly<Record<string, Inside>>;
const NONE: Insides = {};

/** By expanded node of the open graph; a node that is being read for the first time has none. */
export const useInsides = create<Insides>(() => NONE);

const expanded = graphStore<true>("superstep.expanded", (value) => value === true);

/** Does the node run another graph, which could be drawn in its place? */
export const isExpandable = (name: string): boolean => nodeOf(doc.get(`node:${name}`)).kind === GRAPH;

/** Has a person expanded the node? */
export const isExpanded = (name: string): boolean => expanded.now()[name] === true && isExpandable(name);

export const onExpanded = (listener: () => void): (() => void) => expanded.subscribe(listener);

/** Nodes that a person has just expanded: once their graph is read it is said aloud and brought into view. */
const asking = new Set<string>();

/** Expands nodes that run other graphs, or folds them when all of them are expanded. */
export function toggleExpanded(names: readonly string[]): void {
  const able = names.filter(isExpandable);
  const folded = able.filter((name) => !isExpanded(name));
  if (folded.length > 0) {
    for (const name of folded) asking.add(name);
    expanded.set({ ...expanded.now(), ...Object.fromEntries(folded.map((name) => [name, true as const])) });
    return;
  }
  const left = Object.entries(expanded.now()).filter(([name]) => !able.includes(name));
  expanded.set(Object.fromEntries(left));
  announce(t("expand.said.folded", { names: listed(able) }));
}

/** A node has another name. */
export function renameInExpanded(from: string, to: string): void {
  const { [from]: was, ...others } = expanded.now();
  if (was === true) expanded.set({ ...others, [to]: true });
}

/** The size of the card of a node whose graph has been read. */
function sizeOf(name: string, { drawn }: Inside) {
  return expandedCard(scene.sizeOf(name), drawn?.size ?? drawingOf(null).size);
}

/** Gives the canvas the sizes of what is read. */
function draw(insides: Insides): void {
  scene.setExpanded(new Map(Object.entries(insides).map(([name, inside]) => [name, sizeOf(name, inside)])));
}

function put(insides: Insides): void {
  draw(insides);
  useInsides.setState(insides, true);
}

const asked = new Map<string, number>();

/** Reads the graph of a node; one that looks as before stays the one that is drawn. */
async function read(name: string): Promise<void> {
  const { graphId } = useSession.getState();
  if (graphId === null) return;
  const turn = (asked.get(name) ?? 0) + 1;
  asked.set(name, turn);
  let next: Inside;
  try {
    // The host knows the settings of the node as they are now.
    await flush();
    const view = await rpc("graph.inside", { graphId, path: [name] });
    const records = view.records as DocumentRecord[];
    const before = useInsides.getState()[name]?.drawn;
    if (
      before?.name === view.name &&
      before.path === view.path &&
      JSON.stringify(before.records) === JSON.stringify(records)
    )
      next = { drawn: before };
    else {
      const made = await sceneOf(records);
      const nodes = made.doc
        .names("node")
        .filter((each) => nodeOf(made.doc.get(`node:${each}`)).kind !== NOTE);
      const extent = made.extent();
      next = {
        drawn: {
          name: view.name,
          path: view.path,
          records,
          scene: made,
          extent,
          nodes,
          ...drawingOf(extent),
        },
      };
    }
  } catch (thrown) {
    next = { problem: asProblem(thrown) };
  }
  // Folded meanwhile, asked for again, or of a graph that is shown no more.
  if (asked.get(name) !== turn || useSession.getState().graphId !== graphId || !isExpanded(name)) return;
  put({ ...useInsides.getState(), [name]: next });
  if (!asking.delete(name)) return;
  announce(said(name, next));
  showNode(name);
}

function said(name: string, { drawn }: Inside): string {
  if (!drawn) return t("expand.said.problem", { name });
  return tn("expand.said.one", "expand.said.many", drawn.nodes.length, {
    name,
    graph: drawn.name,
    nodes: listed(drawn.nodes),
  });
}

const namesNow = (): string[] => Object.keys(expanded.now()).filter(isExpanded);

/** Keeps what is drawn equal to what is expanded. With `again`, graphs that are drawn already are read again. */
function follow(again = false): void {
  const names = namesNow();
  const insides = useInsides.getState();
  const gone = Object.keys(insides).filter((name) => !names.includes(name));
  if (gone.length > 0) {
    for (const name of gone) asked.delete(name);
    put(Object.fromEntries(Object.entries(insides).filter(([name]) => !gone.includes(name))));
  }
  for (const name of names) if (again || !(name in insides)) void read(name);
}

function begin(): void {
  asked.clear();
  asking.clear();
  put(NONE);
  follow();
}

expanded.subscribe(() => follow());
useSession.subscribe((now, before) => {
  if (now.graphId !== before.graphId || now.graphKey !== before.graphKey) begin();
});
doc.watch((changed) => {
  const wanted = expanded.now();
  if (Object.keys(wanted).length === 0) return;
  if (changed === null) {
    follow(true);
    return;
  }
  const names = [...changed].flatMap((id) => (id.startsWith("node:") ? id.slice("node:".length) : []));
  const own = names.filter((name) => wanted[name] === true);
  if (own.length === 0) return;
  follow();
  for (const name of own) if (name in useInsides.getState()) void read(name);
  // What stands on the cards themselves may be more or less than before.
  draw(useInsides.getState());
});

// A nested graph is a file: it is saved in another tab or window, or written by another program.
useDocumentState.subscribe((now, before) => {
  if (now.byRecord === before.byRecord) return;
  for (const name of Object.keys(useInsides.getState()))
    if (now.byRecord.get(`node:${name}`) !== before.byRecord.get(`node:${name}`)) void read(name);
});
if (typeof window !== "undefined") window.addEventListener("focus", () => follow(true));
begin();
