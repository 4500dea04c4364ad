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
  /** Its checkpoints: those after it parted. */
  readonly own: ReadonlySet<string>;
  /** How many of them are super-steps. */
  readonly steps: number;
  readonly cause: BranchCause;
  /** The bookmark nearest to its tip. */
  readonly name: string | undefined;
}

// A replay begins with a fork, or goes on at the checkpoint itself.
const CAUSES: Readonly<Record<string, BranchCause>> = { update: "edit", input: "input" };

export function branchOf(chain: Chain): Branch {
  const checkpoints = chain.nodes.map((node) => node.checkpoint);
  const tip = tipOf(chain).checkpoint;
  const first = checkpoints[0] ?? tip;
  return {
    number: chain.index + 1,
    tip,
    first,
    own: new Set(checkpoints.map(({ id }) => id)),
    steps: checkpoints.filter(({ source }) => source === "loop").length,
    // A copy of the first checkpoint has no parent either.
    cause: chain.index === 0 ? "trunk" : (CAUSES[first.source] ?? "replay"),
    name: checkpoints.findLast(({ bookmark }) => bookmark !== undefined)?.bookmark,
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
