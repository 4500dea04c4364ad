/** The branches of a thread: each from where it parted to its tip, with what made it. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { WhatIfBranch } from "../../ipc/bindings/WhatIfBranch";
import { type Chain, ForkGraph, tipOf } from "./forks";

/** What made a branch: the thread's first run, a replay, an edit, another input, a row of a what-if grid. */
type BranchCause = "trunk" | "replay" | "edit" | "input" | "whatIf";

export interface Branch {
  /** 1 is the oldest. */
  readonly number: number;
  readonly tip: CheckpointView;
  /** Its first checkpoint of its own. */
  readonly first: CheckpointView;
  /** It has its checkpoints: those after it parted. */
  readonly chain: Chain;
  /** How many of them are super-steps. */
  readonly steps: number;
  readonly cause: BranchCause;
  /** The bookmark nearest to its tip. */
  readonly name: string | undefined;
}

// A replay begins with a fork, or goes on at the checkpoint itself.
const CAUSES: Readonly<Record<string, BranchCause>> = { update: "edit", input: "input" };

/** What a branch is called by. */
export interface Called extends Pick<Branch, "number" | "name"> {
  readonly whatIf?: WhatIfBranch | undefined;
}

/** What it is called: its number, counted from 1, the bookmark nearest to its tip, the row of a what-if grid. */
export const callOf = (chain: Chain): Called => ({
  whatIf: chain.nodes[0]?.checkpoint.whatIf,
  number: chain.number,
  name: chain.nodes.findLast(({ checkpoint }) => checkpoint.bookmark !== undefined)?.checkpoint.bookmark,
});

function causeOf({ number }: Chain, first: CheckpointView): BranchCause {
  if (first.whatIf !== undefined) return "whatIf";
  return number === 1 ? "trunk" : (CAUSES[first.source] ?? "replay");
}

export function branchOf(chain: Chain): Branch {
  const tip = tipOf(chain).checkpoint;
  const first = chain.nodes[0]?.checkpoint ?? tip;
  let steps = 0;
  for (const { checkpoint } of chain.nodes) steps += Number(checkpoint.source === "loop");
  return {
    ...callOf(chain),
    tip,
    first,
    chain,
    steps,
    // A copy of the first checkpoint has no parent either.
    cause: causeOf(chain, first),
  };
}

/** `list` is newest first; so are the branches, by their tips. */
export function branchesOf(list: readonly CheckpointView[]): readonly Branch[] {
  const graph = new ForkGraph();
  graph.take(list);
  const place = new Map(list.map(({ id }, at) => [id, at]));
  const age = ({ tip }: Branch) => place.get(tip.id) ?? 0;
  return graph.chains.map(branchOf).toSorted((a, b) => age(a) - age(b));
}
