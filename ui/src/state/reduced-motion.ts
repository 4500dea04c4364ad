/**
 * Nodes that were just added, and which of their fields somebody has been in: what is still missing there is a hint, no
 * error, until the field is left or a run is asked for. The problems themselves are the workbench's and are counted as ever.
 */
import { useCallback } from "react";
import { create } from "zustand";
import { useSession } from "./session";

type Left = ReadonlySet<string>;
const NONE: Left = new Set();

const useNew = create<{ readonly nodes: ReadonlyMap<string, Left> }>(() => ({ nodes: new Map() }));

/** A node that a person is about to fill in. */
export function beginNode(name: string): void {
  useNew.setState(({ nodes }) => ({ nodes: new Map(nodes).set(name, NONE) }));
}

/** Somebody left a field, at a pointer into the record. */
export function leaveField(node: string, pointer: string): void {
  const left = useNew.getState().nodes.get(node);
  if (left === undefined || left.has(pointer)) return;
  useNew.setState(({ nodes }) => ({ nodes: new Map(nodes).set(node, new Set(left).add(pointer)) }));
}

/** Everything that is missing is an error from now on: a run was asked for, or another graph is open. */
export function endCalm(): void {
  if (useNew.getState().nodes.size > 0) useNew.setState({ nodes: new Map() });
}

useSession.subscribe((state, before) => {
  if (state.graphId !== before.graphId) endCalm();
});

const isLeft = (left: Left, pointer: string) =>
  [...left].some((field) => pointer === field || pointer.startsWith(`${field}/`));

/** Says of a pointer into a node's record whether a problem there can wait. */
export function useCalm(node: string): (pointer: string) => boolean {
  const left = useNew((state) => state.nodes.get(node));
  return useCallback((pointer) => left !== undefined && !isLeft(left, pointer), [left]);
}
