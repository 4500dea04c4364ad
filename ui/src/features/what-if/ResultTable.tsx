/** The runs of a what-if grid as a table, and what can be done with each. */
import { ArrowRightLeft, Check, Ellipsis, GitBranch, LockOpen, Workflow } from "lucide-react";
import { type KeyboardEvent, useMemo, useState } from "react";
import { cx } from "../../components/cx";
import { IconButton } from "../../components/IconButton";
import { Menu, type MenuEntry } from "../../components/Menu";
import { useRowMenu } from "../../components/useRowMenu";
import { plain } from "../../debugger/parts/format";
import { StatusMark, type AnyStatus } from "../../debugger/parts/StatusMark";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfStatus } from "../../ipc/bindings/WhatIfStatus";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { count, duration } from "../../lib/intl";
import { whatIfIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { useSession } from "../../state/session";
import { askWhatIf } from "../../state/what-if";
import { applyToGraph, takeBranch } from "./adopt";
import { ordered, type SortColumn } from "./order";
import { costOf, explained, numberOf } from "./report";

const MARK: Record<WhatIfStatus, AnyStatus> = {
  queued: "waiting",
  running: "running",
  done: "done",
  asked: "asking",
  held: "paused",
  failed: "failed",
  limit: "stopped",
  stopped: "stopped",
};

const COLUMNS: readonly { column: SortColumn | "changes"; text: TextKey; look: string }[] = [
  { column: "row", text: "whatIf.column.row", look: "w-10 text-left" },
  { column: "name", text: "whatIf.column.name", look: "w-1/5 text-left" },
  { column: "status", text: "whatIf.column.status", look: "w-28 text-left" },
  { column: "score", text: "whatIf.column.score", look: "w-20 text-right" },
  { column: "changes", text: "whatIf.column.changes", look: "text-left" },
  { column: "tokens", text: "whatIf.column.tokens", look: "w-16 text-right max-[1100px]:hidden" },
  { column: "cost", text: "whatIf.column.cost", look: "w-24 text-right max-[1100px]:hidden" },
  { column: "time", text: "whatIf.column.time", look: "w-16 text-right" },
];

export function ResultTable({ grid }: { grid: WhatIfView }) {
  const [sort, setSort] = useState<SortColumn>("row");
  const cursor = useSession((session) => session.cursor.checkpointId);
  const results = useMemo(() => ordered(grid, sort), [grid, sort]);
  const columns = grid.grid.scorer ? COLUMNS : COLUMNS.filter(({ column }) => column !== "score");
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const placed = results.filter(({ checkpointId }) => checkpointId !== undefined);
    const at = placed.findIndex(({ checkpointId }) => checkpointId === cursor);
    const to = placed[Math.max(0, Math.min(placed.length - 1, at + by))];
    if (to) go(to);
  };
  return (
    <div
      className="min-h-0 flex-1 overflow-auto focus-visible:outline-offset-[-2px]"
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <table className="w-full table-fixed text-xs tabular-nums">
        <thead className="sticky top-0 z-1 bg-surface-1">
          <tr>
            {columns.map(({ column, text, look }) => (
              <th
                key={column}
                className={cx("px-2 font-medium", look)}
                aria-sort={sort === column ? (column === "score" ? "descending" : "ascending") : "none"}
              >
                {column === "changes" ? (
                  <span className="text-text-3">{t(text)}</span>
                ) : (
                  <button
                    type="button"
                    className={cx("h-6 hover:text-text", sort === column ? "text-text" : "text-text-3")}
                    onClick={() => setSort(column)}
                  >
                    {t(text)}
                  </button>
                )}
              </th>
            ))}
            <th className="w-9" />
          </tr>
        </thead>
        <tbody>
          {results.map((result) => (
            <Row
              key={`${result.row}.${result.repeat}`}
              grid={grid}
              result={result}
              selected={result.checkpointId !== undefined && result.checkpointId === cursor}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const go = ({ checkpointId }: WhatIfResult) => {
  if (checkpointId !== undefined) useSession.getState().setCursor({ checkpointId });
};

function Row({ grid, result, selected }: { grid: WhatIfView; result: WhatIfResult; selected: boolean }) {
  const name = grid.names[result.row] ?? "";
  const placed = result.checkpointId !== undefined;
  const entries = entriesOf(grid, result);
  const { onContextMenu, menu } = useRowMenu(entries);
  return (
    <tr
      className={cx("group h-7", selected ? "bg-accent-soft" : placed && "hover:bg-surface-3")}
      aria-selected={selected}
      onClick={() => go(result)}
      onContextMenu={onContextMenu}
      data-testid={whatIfIds.result(result.row, result.repeat)}
      data-status={result.status}
    >
      <td className="px-2 text-text-2">{numberOf(grid, result)}</td>
      <td className="truncate px-2 text-sm" title={name}>
        {name}
      </td>
      <td className="px-2">
        <span className="inline-flex max-w-full items-center gap-1.5">
          <StatusMark status={MARK[result.status]} size={13} />
          <span className="truncate">{t(`whatIf.status.${result.status}`)}</span>
        </span>
      </td>
      {grid.grid.scorer && (
        <td className="truncate px-2 text-right" title={result.scoreNote}>
          {result.score === undefined ? (result.scoreNote === undefined ? "" : "–") : plain(result.score, 20)}
        </td>
      )}
      <td className="truncate px-2 text-text-2" title={explained(result)}>
        {explained(result)}
      </td>
      <td className="px-2 text-right text-text-2 max-[1100px]:hidden">
        {result.tokens > 0 && count(result.tokens)}
      </td>
      <td
        className="px-2 text-right text-text-2 max-[1100px]:hidden"
        title={result.unpriced && result.tokens > 0 ? t("whatIf.unpriced") : undefined}
      >
        {costOf(result)}
      </td>
      <td className="px-2 text-right text-text-2">
        {result.status !== "queued" && result.status !== "running" && duration(result.millis)}
      </td>
      <td className="pr-1 text-right" onClick={(event) => event.stopPropagation()}>
        <Menu
          align="end"
          trigger={
            <IconButton size="small" label={t("debug.more")} data-testid={whatIfIds.resultMenu}>
              <Ellipsis size={15} aria-hidden />
            </IconButton>
          }
          entries={entries}
        />
        {menu}
      </td>
    </tr>
  );
}

function entriesOf(grid: WhatIfView, result: WhatIfResult): MenuEntry[] {
  const { threadId } = grid;
  const row = grid.grid.rows[result.row];
  const { checkpointId, node } = result;
  const changesGraph =
    row !== undefined &&
    (row.graph !== undefined || row.model !== undefined || Object.keys(row.settings ?? {}).length > 0);
  return [
    {
      id: "go",
      label: t("whatIf.go"),
      icon: <GitBranch size={14} aria-hidden />,
      disabled: checkpointId === undefined,
      run: () => go(result),
    },
    {
      id: "compare",
      label: t("whatIf.compare"),
      icon: <ArrowRightLeft size={14} aria-hidden />,
      disabled: checkpointId === undefined,
      run: () => {
        go(result);
        useSession.getState().compare({ threadId, checkpointId: grid.base.checkpointId });
      },
    },
    { id: "line", separator: true },
    {
      id: "take",
      label: t("whatIf.take"),
      icon: <Check size={14} aria-hidden />,
      disabled: checkpointId === undefined,
      run: () => void takeBranch(grid, result),
    },
    {
      id: "apply",
      label: t("whatIf.apply"),
      icon: <Workflow size={14} aria-hidden />,
      disabled: !changesGraph,
      run: () => {
        if (row) void applyToGraph(row, result.row + 1);
      },
    },
    ...(result.status === "held" && node !== undefined
      ? [
          {
            id: "let",
            label: t("whatIf.letWork", { node }),
            icon: <LockOpen size={14} aria-hidden />,
            run: () =>
              askWhatIf({
                threadId,
                checkpointId: grid.checkpointId,
                grid: { ...grid.grid, effects: { ...grid.grid.effects, [node]: "again" } },
              }),
          } satisfies MenuEntry,
        ]
      : []),
  ];
}
