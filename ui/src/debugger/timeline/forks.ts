/**
 * The checkpoints of a thread as branches: each a chain of checkpoints that continue each other, at its place along the
 * thread. Grows with the thread: what comes new is added, and only what is older or was removed builds it again. Knows
 * nothing of drawing; `visits` counts its work for tests.
 */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RunView } from "../../ipc/bindings/RunView";
import type { WhatIfBranch } from "../../ipc/bindings/WhatIfBranch";

/** The shape that says what a checkpoint is, the most telling first. */
export type Mark = "error" | "question" | "stop" | "edit" | "input" | "answer" | "fork" | "step";

/** Runs that ended at a question or a breakpoint, by their id. */
export type RunEnds = ReadonlyMap<string, Pick<RunView, "status" | "stop">>;

export interface ForkNode {
  checkpoint: CheckpointView;
  readonly chain: Chain;
  /** Place in its chain. */
  readonly at: number;
  readonly parent: ForkNode | undefined;
  children: number;
  /** Its chain goes on. */
  continued: boolean;
  /** It says more than that a step was made: it is never folded. */
  busy: boolean;
}

export interface Chain {
  /** In the order in which they began. */
  readonly index: number;
  /** The same without rows of what-if grids, from 1; 0 for these. */
  readonly number: number;
  /** Where it parted. */
  readonly from: ForkNode | undefined;
  /** Place of its first checkpoint along the thread. */
  readonly start: number;
  /** Oldest first, one place after the other. */
  readonly nodes: ForkNode[];
  /** Those that parted from it, oldest first. */
  readonly children: Chain[];
}

export const depthOf = (node: ForkNode): number => node.chain.start + node.at;
export const tipOf = (chain: Chain): ForkNode => chain.nodes[chain.nodes.length - 1] as ForkNode;
const NO_RUNS: RunEnds = new Map();

/** Rows of a grid are older than what goes on at the same place, and go on with nothing but themselves. */
const isSameRow = (row: WhatIfBranch | undefined, before: WhatIfBranch | undefined): boolean =>
  row === undefined || (row.grid === before?.grid && row.row === before.row && row.repeat === before.repeat);

export class ForkGraph {
  readonly chains: Chain[] = [];
  /** How many checkpoints at each place are not plain steps. */
  readonly busy: number[] = [];
  /** Checkpoints that were looked at. */
  visits = 0;
  #places = new Map<string, ForkNode>();
  #lastOfRun = new Map<string, ForkNode>();
  #list: readonly CheckpointView[] = [];
  #runs: RunEnds = NO_RUNS;
  #numbered = 0;

  node(id: string | null | undefined): ForkNode | undefined {
    return id === null || id === undefined ? undefined : this.#places.get(id);
  }

  get size(): number {
    return this.#places.size;
  }

  /** Takes the thread as it is now, newest first. Answers whether anything is another than before. */
  take(list: readonly CheckpointView[], runs: RunEnds = NO_RUNS): boolean {
    if (list === this.#list && runs === this.#runs) return false;
    const added = runs === this.#runs ? this.#grows(list) : -1;
    if (added < 0) {
      this.#clear();
      this.#runs = runs;
      for (let at = list.length - 1; at >= 0; at -= 1) this.#add(list[at] as CheckpointView);
    } else {
      for (let at = list.length - 1; at >= added; at -= 1) {
        const [now, before] = [list[at], this.#list[at - added]];
        if (now && now !== before) this.#replace(now);
      }
      for (let at = added - 1; at >= 0; at -= 1) this.#add(list[at] as CheckpointView);
    }
    this.#list = list;
    return true;
  }

  /** How many are new at the front when all others are the same; -1 when they are not. */
  #grows(list: readonly CheckpointView[]): number {
    const added = list.length - this.#list.length;
    if (added < 0 || this.#list.length === 0) return -1;
    for (let at = 0; at < this.#list.length; at += 1) {
      const [now, before] = [list[at + added], this.#list[at]];
      if (now !== before && (now?.id !== before?.id || now?.parent !== before?.parent)) return -1;
    }
    return added;
  }

  #clear(): void {
    this.chains.length = 0;
    this.busy.length = 0;
    this.#numbered = 0;
    this.#places = new Map();
    this.#lastOfRun = new Map();
  }

  #add(checkpoint: CheckpointView): void {
    this.visits += 1;
    const parent = this.node(checkpoint.parent);
    // The oldest that continues a checkpoint is its branch going on; every other one begins a branch.
    const continues =
      parent !== undefined && !parent.continued && isSameRow(checkpoint.whatIf, parent.checkpoint.whatIf);
    const chain = continues ? parent.chain : this.#begin(parent, checkpoint);
    const node: ForkNode = {
      checkpoint,
      chain,
      at: chain.nodes.length,
      parent,
      children: 0,
      continued: false,
      busy: false,
    };
    chain.nodes.push(node);
    this.#places.set(checkpoint.id, node);
    if (checkpoint.run !== undefined) {
      const before = this.#lastOfRun.get(checkpoint.run);
      this.#lastOfRun.set(checkpoint.run, node);
      if (before) this.#weigh(before);
    }
    if (parent) {
      parent.children += 1;
      parent.continued ||= continues;
      this.#weigh(parent);
    }
    this.#weigh(node);
  }

  #begin(from: ForkNode | undefined, checkpoint: CheckpointView): Chain {
    // What it continues may not be loaded: then its step says where it is.
    const start = from ? depthOf(from) + 1 : Math.max(0, checkpoint.step + 1);
    const number = checkpoint.whatIf === undefined ? (this.#numbered += 1) : 0;
    const chain: Chain = { index: this.chains.length, number, from, start, nodes: [], children: [] };
    this.chains.push(chain);
    from?.chain.children.push(chain);
    return chain;
  }

  #replace(checkpoint: CheckpointView): void {
    const node = this.#places.get(checkpoint.id);
    if (!node) return;
    this.visits += 1;
    node.checkpoint = checkpoint;
    this.#weigh(node);
  }

  #weigh(node: ForkNode): void {
    const { checkpoint, chain, at } = node;
    const isTip = at === chain.nodes.length - 1;
    const busy =
      isTip ||
      at === 0 ||
      node.children > 1 ||
      checkpoint.bookmark !== undefined ||
      this.markOf(node) !== "step";
    if (busy === node.busy) return;
    node.busy = busy;
    const depth = depthOf(node);
    this.busy[depth] = (this.busy[depth] ?? 0) + (busy ? 1 : -1);
  }

  /** Why a breakpoint stopped the run here; undefined where none did. */
  stopAt(node: ForkNode): string | undefined {
    const { run } = node.checkpoint;
    if (run === undefined || this.#lastOfRun.get(run) !== node) return undefined;
    return this.#runs.get(run)?.stop?.reason;
  }

  /** The step went on from a question that somebody had answered. */
  #answers({ checkpoint, parent }: ForkNode): boolean {
    const asked = parent?.checkpoint.run;
    return (
      asked !== undefined &&
      asked !== checkpoint.run &&
      this.#runs.get(asked)?.status === "asking" &&
      parent?.checkpoint.questions === 0
    );
  }

  markOf(node: ForkNode): Mark {
    const { source, failed, questions } = node.checkpoint;
    if (failed > 0) return "error";
    if (questions > 0) return "question";
    if (this.stopAt(node) !== undefined) return "stop";
    if (source === "update") return "edit";
    if (source === "input") return "input";
    if (source === "fork") return "fork";
    return this.#answers(node) ? "answer" : "step";
  }
}

/** The way back from a checkpoint, as the last place of each chain on it: a checkpoint is on it when it is not after that. */
export function wayTo(node: ForkNode | undefined): ReadonlyMap<Chain, number> {
  const way = new Map<Chain, number>();
  for (let at = node; at && !way.has(at.chain); at = at.chain.from) way.set(at.chain, at.at);
  return way;
}
