/** The branches of a thread: each from where it parted to its tip, with what made it. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { type Chain, ForkGraph, tipOf } from "./forks";

/** What made a branch: the thread's first run, a replay, an edit, another input. */
type BranchCause = "trunk" | "replay" | "edit" | "input";

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

/** What it is called: its number, counted from 1, and the bookmark nearest to its tip. */
export const callOf = (chain: Chain): Pick<Branch, "number" | "name"> => ({
  number: chain.index + 1,
  name: chain.nodes.findLast(({ checkpoint }) => checkpoint.bookmark !== undefined)?.checkpoint.bookmark,
});

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
    cause: chain.index === 0 ? "trunk" : (CAUSES[first.source] ?? "replay"),
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
