/**
 * How much of the time or the cost of a thread each node took, for the cards of the canvas. The part that shows the legend puts
 * the figures in; a card wakes only when its own have changed.
 */
import { create } from "zustand";
import type { Heat } from "./sums";
import { total } from "./tree";

export type HeatBy = "off" | "time" | "cost";

export interface NodeHeat extends Heat {
  /** Of the node that took most: from 0 to 1. */
  readonly share: number;
}

interface HeatStore {
  readonly by: HeatBy;
  readonly nodes: ReadonlyMap<string, NodeHeat>;
}

const NONE: ReadonlyMap<string, NodeHeat> = new Map();

export const useHeat = create<HeatStore>(() => ({ by: "off", nodes: NONE }));

export const setHeat = (by: HeatBy): void => useHeat.setState(by === "off" ? { by, nodes: NONE } : { by });

const amountOf = (heat: Heat, by: HeatBy): number => (by === "cost" ? total(heat.cost) : heat.millis);

/** Nodes with their share of the largest; those that took nothing have none. */
export function sharesOf(heat: ReadonlyMap<string, Heat>, by: HeatBy): ReadonlyMap<string, NodeHeat> {
  const most = Math.max(0, ...[...heat.values()].map((node) => amountOf(node, by)));
  if (by === "off" || most === 0) return NONE;
  return new Map(
    [...heat].flatMap(([name, node]) => {
      const share = amountOf(node, by) / most;
      return share > 0 ? [[name, { ...node, share }] as const] : [];
    }),
  );
}

const same = (a: NodeHeat | undefined, b: NodeHeat): boolean =>
  a !== undefined && a.millis === b.millis && a.share === b.share && total(a.cost) === total(b.cost);

export function showHeat(nodes: ReadonlyMap<string, NodeHeat>): void {
  const before = useHeat.getState().nodes;
  useHeat.setState({
    nodes: new Map(
      [...nodes].map(([name, heat]) => {
        const known = before.get(name);
        return [name, known && same(known, heat) ? known : heat] as const;
      }),
    ),
  });
}

export const useNodeHeat = (name: string): NodeHeat | undefined => useHeat(({ nodes }) => nodes.get(name));
