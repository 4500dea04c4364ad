/** The nested graphs of one step as lanes below it: each dot is a checkpoint of that graph, in the order in which it ran. */
import { nodeList } from "../../debugger/parts/format";
import { LANE } from "../../debugger/timeline/fork-map";
import { useWithin } from "../../debugger/timeline/useWithin";
import { cx } from "../../components/cx";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

interface InnerLane {
  readonly taskId: string;
  readonly name: string;
  /** Where that graph keeps its checkpoints. */
  readonly ns: string;
}

export interface Inner {
  /** Of the graph around: its step began there. */
  readonly checkpointId: string;
  readonly lanes: readonly InnerLane[];
  /** Nested graphs that have no lane. */
  readonly more: number;
}

const STEP = 18;

interface Props {
  readonly threadId: string;
  readonly inner: Inner;
  /** Below the checkpoint of the step. */
  readonly x: number;
  readonly y: number;
  onSelect(taskId: string): void;
}

export function NestedLanes({ threadId, inner, x, y, onSelect }: Props) {
  return (
    <div className="pointer-events-none absolute" style={{ left: x, top: y }}>
      <span
        className="absolute -top-3.5 left-0 border-l-2 border-dotted border-line-field"
        style={{ height: (inner.lanes.length - 1) * LANE + LANE / 2 + 14 }}
        aria-hidden
      />
      {inner.lanes.map((lane) => (
        <NestedLane key={lane.ns} threadId={threadId} lane={lane} onSelect={onSelect} />
      ))}
    </div>
  );
}

function NestedLane({
  threadId,
  lane,
  onSelect,
}: Pick<Props, "threadId" | "onSelect"> & { readonly lane: InnerLane }) {
  const { steps, more, problem } = useWithin(threadId, lane.ns);
  return (
    <div
      className="flex items-center"
      style={{ height: LANE }}
      role="group"
      aria-label={t("forks.nestedLane", { node: lane.name })}
      data-testid={forksIds.nestedLane}
    >
      <span className="w-3 border-t-2 border-dotted border-line-field" aria-hidden />
      <span className="max-w-32 truncate px-1 text-2xs text-text-2">{lane.name}</span>
      {more && <span className="px-1 text-2xs text-text-3">…</span>}
      {steps.toReversed().map(({ checkpoint, tasks }, at) => {
        const failed = tasks.some((task) => task.status === "failed");
        const asks = tasks.some((task) => task.status === "asking");
        const ran = tasks.map((task) => task.node);
        return (
          <button
            key={checkpoint.id}
            type="button"
            tabIndex={-1}
            className="pointer-events-auto relative flex h-full items-center justify-center"
            style={{ width: STEP }}
            title={[
              t("forks.item.step", { n: checkpoint.step }),
              ran.length > 0 ? t("forks.item.next", { nodes: nodeList(ran) }) : "",
            ]
              .filter((text) => text !== "")
              .join(" · ")}
            onClick={() => onSelect(lane.taskId)}
            data-testid={forksIds.nestedStep}
          >
            {at > 0 && <span className="absolute right-1/2 w-4.5 border-t-2 border-line-field" aria-hidden />}
            <span
              className={cx(
                "z-1 size-2 border-2 bg-surface-1 hover:bg-accent",
                failed ? "rounded-none border-failed bg-failed" : "rounded-full border-text-3",
                asks && "border-asking bg-asking",
              )}
            />
          </button>
        );
      })}
      {problem && <span className="px-1 text-2xs text-failed">{problem.message}</span>}
    </div>
  );
}
