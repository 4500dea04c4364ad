/** What each row of the timeline says, from the list of checkpoints alone. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { layoutLanes, type LaneRow } from "./lanes";

export interface TimelineRow {
  readonly checkpoint: CheckpointView;
  readonly lane: LaneRow;
  /** Nodes whose step made this checkpoint: those that came next before it. */
  readonly ran: readonly string[];
}

export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly width: number;
  readonly indexOf: ReadonlyMap<string, number>;
}

export function timelineOf(list: readonly CheckpointView[]): Timeline {
  const layout = layoutLanes(list);
  const byId = new Map(list.map((checkpoint) => [checkpoint.id, checkpoint]));
  const rows = list.map((checkpoint, index): TimelineRow => {
    const parent = checkpoint.parent === undefined ? undefined : byId.get(checkpoint.parent);
    const lane = layout.rows[index];
    if (!lane) throw new Error("the layout has a row for every checkpoint");
    return { checkpoint, lane, ran: checkpoint.source === "loop" ? (parent?.next ?? []) : [] };
  });
  return {
    rows,
    width: layout.width,
    indexOf: new Map(list.map((checkpoint, index) => [checkpoint.id, index])),
  };
}
