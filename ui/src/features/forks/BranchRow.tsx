/** The name of a branch beside its lane: what made it, how long it is, how it ended. */
import { CircleX, MessageCircleQuestionMark } from "lucide-react";
import { memo, type MouseEvent } from "react";
import { cx } from "../../components/cx";
import { branchOf } from "../../debugger/timeline/branches";
import { type Chain, type ForkGraph, type ForkNode, tipOf } from "../../debugger/timeline/forks";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { branchCause, branchName, branchSteps } from "../timeline";
import { BRANCH_COLORS } from "./draw-fork-map";

/** In the order of the tokens. */
const COLORS = ["bg-branch-1", "bg-branch-2", "bg-branch-3", "bg-branch-4", "bg-branch-5", "bg-branch-6"];

interface Props {
  readonly chain: Chain;
  readonly graph: ForkGraph;
  /** The moment that is shown is on it. */
  readonly shown: boolean;
  /** Another when it grows, or when what it ends with is another. */
  readonly tip: CheckpointView;
  onGo(node: ForkNode): void;
  onCompare(node: ForkNode): void;
}

export const BranchRow = memo(
  function BranchRow({ chain, graph, shown, onGo, onCompare }: Props) {
    const branch = branchOf(chain);
    const tip = tipOf(chain);
    const mark = graph.markOf(tip);
    const onClick = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) onCompare(tip);
      else onGo(tip);
    };
    return (
      <button
        type="button"
        tabIndex={-1}
        className={cx(
          "flex h-full w-full items-center gap-1.5 px-2 text-left text-xs",
          shown ? "bg-accent-soft font-medium" : "hover:bg-surface-3",
        )}
        title={[branchName(branch), branchCause(branch), branchSteps(branch)].join(" · ")}
        onClick={onClick}
        data-testid={forksIds.branch}
        data-branch={branch.number}
        data-shown={shown || undefined}
      >
        <span
          className={cx("h-3.5 w-1 shrink-0 rounded-full", COLORS[chain.index % BRANCH_COLORS])}
          aria-hidden
        />
        <span className="shrink-0 max-w-28 truncate">{branchName(branch)}</span>
        <span className="min-w-0 flex-1 truncate text-2xs font-normal text-text-3">
          {branchCause(branch)}
        </span>
        {mark === "error" && (
          <CircleX size={13} className="shrink-0 text-failed" aria-label={t("forks.mark.error")} />
        )}
        {mark === "question" && (
          <MessageCircleQuestionMark
            size={13}
            className="shrink-0 text-asking"
            aria-label={t("forks.mark.question")}
          />
        )}
      </button>
    );
  },
  (before, after) =>
    before.chain === after.chain &&
    before.shown === after.shown &&
    before.tip === after.tip &&
    before.graph === after.graph &&
    before.onGo === after.onGo,
);
