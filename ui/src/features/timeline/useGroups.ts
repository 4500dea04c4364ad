/** Which rows of the timeline stand for several steps: by the level of detail, less what was unfolded. */
import { useEffect, useMemo, useState } from "react";
import { detailOf, useChosenDetail } from "../../debugger/timeline/chosen-detail";
import { atDetail, type Detail, turnNumbers } from "../../debugger/timeline/detail";
import { type Entry, entryOf, type Group, opened } from "../../debugger/timeline/fold";
import type { Timeline } from "../../debugger/timeline/rows";
import { unsettled } from "../../debugger/timeline/failed-or-pending";

interface Given {
  readonly timeline: Timeline;
  /** The checkpoint that the shown one is compared with; it stays a row. */
  readonly compareWith: string | null;
  /** The row of the cursor, or -1; null is now, which opens nothing. */
  readonly cursorRow: number | null;
  /** Only what failed or is pending. */
  readonly only: boolean;
}

interface Groups {
  readonly detail: Detail;
  readonly entries: readonly Entry[];
  readonly turns: ReadonlyMap<string, number>;
  unfold(group: Group): void;
  /** The rows that a row was unfolded with; null when it was not. */
  unfoldedWith(row: number): Group | null;
  fold(group: Group): void;
}

const NO_IDS: ReadonlySet<string> = new Set();
const NO_TURNS: ReadonlyMap<string, number> = new Map();

export function useGroups({ timeline, compareWith, cursorRow, only }: Given): Groups {
  const { rows } = timeline;
  const chosen = useChosenDetail((store) => store.detail);
  const detail = detailOf(chosen, rows.length);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(NO_IDS);
  useEffect(() => setUnfolded(NO_IDS), [detail]);
  const grouped = useMemo(
    () => (only ? unsettled(rows) : atDetail(rows, detail, (id) => id === compareWith)),
    [rows, only, detail, compareWith],
  );
  const base = useMemo(
    () =>
      only || unfolded.size === 0
        ? grouped
        : atDetail(rows, detail, (id) => id === compareWith || unfolded.has(id)),
    [rows, grouped, only, detail, compareWith, unfolded],
  );
  const entries = useMemo(
    () => (only || cursorRow === null || cursorRow < 0 ? base : opened(base, cursorRow)),
    [base, only, cursorRow],
  );
  const turns = useMemo(() => (detail === "turns" ? turnNumbers(rows) : NO_TURNS), [rows, detail]);
  const idsOf = ({ from, to }: Group) => rows.slice(from, to).map(({ checkpoint }) => checkpoint.id);
  return {
    detail,
    entries,
    turns,
    unfold: (group) => setUnfolded((known) => new Set([...known, ...idsOf(group)])),
    unfoldedWith: (row) => {
      if (only || unfolded.size === 0) return null;
      const entry = grouped[entryOf(grouped, row)];
      const id = rows[row]?.checkpoint.id;
      return entry && entry.kind !== "row" && id !== undefined && unfolded.has(id) ? entry : null;
    },
    fold: (group) => {
      const ids = new Set(idsOf(group));
      setUnfolded((known) => new Set([...known].filter((id) => !ids.has(id))));
    },
  };
}
