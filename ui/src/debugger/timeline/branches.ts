/** The branches of a thread: each from where it parted to its tip, with what made it. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { WhatIfBranch } from "../../ipc/bindings/WhatIfBranch";

/** What made a branch: the thread's first run, a replay, an edit, another input, a row of a what-if grid. */
type BranchCause = "trunk" | "replay" | "edit" | "input" | "whatIf";

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

/** `list` is newest first; so are the branches. */
export function branchesOf(list: readonly CheckpointView[]): readonly Branch[] {
  const byId = new Map(list.map((checkpoint) => [checkpoint.id, checkpoint]));
  // The oldest that continues a checkpoint is its own branch going on; every other one begins a branch.
  const oldestChild = new Map<string, string>();
  const continued = new Set<string>();
  for (const { id, parent, whatIf } of list) {
    if (parent === undefined) continue;
    // Rows of a grid are older than what goes on at the same place, and go on with nothing but themselves.
    if (whatIf !== undefined && !sameBranch(whatIf, byId.get(parent)?.whatIf)) continue;
    continued.add(parent);
    oldestChild.set(parent, id);
  }
  const found: Omit<Branch, "number" | "cause">[] = [];
  for (const tip of list) {
    if (continued.has(tip.id)) continue;
    let [first, name] = [tip, tip.bookmark];
    const own = new Set([tip.id]);
    let steps = Number(tip.source === "loop");
    for (;;) {
      const parent = first.parent === undefined ? undefined : byId.get(first.parent);
      if (!parent || oldestChild.get(parent.id) !== first.id) break;
      first = parent;
      own.add(parent.id);
      steps += Number(parent.source === "loop");
      name ??= parent.bookmark;
    }
    found.push({ tip, first, own, steps, name });
  }
  const place = new Map(list.map((checkpoint, at) => [checkpoint.id, at]));
  const isAside = ({ first }: Pick<Branch, "first">) => first.whatIf !== undefined;
  const oldestFirst = found.toSorted(
    (a, b) =>
      Number(isAside(a)) - Number(isAside(b)) || (place.get(b.first.id) ?? 0) - (place.get(a.first.id) ?? 0),
  );
  const numbers = new Map(oldestFirst.map((branch, at) => [branch.tip.id, at + 1]));
  return found.map((branch) => {
    const number = numbers.get(branch.tip.id) ?? 0;
    // A copy of the first checkpoint has no parent either.
    const cause = number === 1 ? "trunk" : (CAUSES[branch.first.source] ?? "replay");
    return { ...branch, number, cause: isAside(branch) ? "whatIf" : cause };
  });
}

const sameBranch = (a: WhatIfBranch, b: WhatIfBranch | undefined): boolean =>
  a.grid === b?.grid && a.row === b.row && a.repeat === b.repeat;
