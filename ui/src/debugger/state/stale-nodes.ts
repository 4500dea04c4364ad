/** The nodes that are stale at the moment that is shown, for the canvas. */
import { create } from "zustand";
import type { Stale } from "./stale";

const NONE: ReadonlyMap<string, Stale> = new Map();
const useStore = create<{ readonly nodes: ReadonlyMap<string, Stale> }>(() => ({ nodes: NONE }));

/** Says which nodes are stale; without an argument none is. */
export const setStale = (nodes: ReadonlyMap<string, Stale> = NONE): void => {
  if (useStore.getState().nodes !== nodes) useStore.setState({ nodes });
};

/** Why a node is stale; undefined when it is not. */
export const useStaleNode = (name: string): Stale | undefined => useStore((store) => store.nodes.get(name));
