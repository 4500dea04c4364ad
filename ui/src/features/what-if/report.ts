/** A what-if grid as text, for a report: what each row changes, how it ended and what is different. Pure. */
import { readablePath } from "../../debugger/parts/diff";
import { plain } from "../../debugger/parts/format";
import { code, list, momentLine, part, report, table } from "../../debugger/parts/report";
import type { Difference } from "../../ipc/bindings/Difference";
import type { ValueView } from "../../ipc/bindings/ValueView";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfRow } from "../../ipc/bindings/WhatIfRow";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { count, duration, fullTime, listed, money } from "../../lib/intl";
import { problemText, t, type TextKey } from "../../lib/texts";

/** The number of a run: of its row, and among the runs of that row where there are several. */
export const numberOf = ({ grid }: WhatIfView, { row, repeat }: WhatIfResult): string =>
  (grid.repeat ?? 1) > 1 ? `${row + 1}.${repeat + 1}` : String(row + 1);

/** Why a row did not come to its end, what it asks, or what is different. */
export function explained(result: WhatIfResult): string {
  if (result.problem !== undefined) return problemText(result.problem).message;
  if (result.asks !== undefined) return result.asks;
  if (result.status !== "done") return "";
  if (result.changed === 0) return t("whatIf.same");
  const shown = result.changes.slice(0, 4).map(change);
  const more = result.changed - shown.length;
  return listed([...shown, ...(more > 0 ? [t("whatIf.moreChanges", { n: more })] : [])]);
}

const short = (view: ValueView | undefined): string =>
  view === undefined ? "–" : view.value === undefined ? `${view.head ?? ""}…` : plain(view.value, 60);

const change = ({ pointer, left, right }: Difference): string =>
  `${readablePath(pointer)} ${short(left)} → ${short(right)}`;

/** What a run cost; with a plus where a model has no price. */
export const costOf = ({ cost, unpriced, tokens }: WhatIfResult): string =>
  `${cost.map(({ amount, currency }) => money(amount, currency)).join(" + ")}${unpriced && tokens > 0 ? "+" : ""}`;

/** What a row changes, place by place. */
function changesOf({ values, input, settings, model, graph }: WhatIfRow): string {
  const value = (given: unknown) => code(plain(given, 80));
  const entries = (all: Readonly<Record<string, unknown>> | undefined) =>
    Object.entries(all ?? {}).map(([place, given]) => `${code(place)} = ${value(given)}`);
  const one = (name: TextKey, given: unknown) =>
    given === undefined ? [] : [`${t(name)} = ${value(given)}`];
  const all = [
    ...entries(values as Readonly<Record<string, unknown>> | undefined),
    ...entries(settings as Readonly<Record<string, unknown>> | undefined),
    ...one("whatIf.kind.input", input),
    ...one("whatIf.kind.model", model),
    ...(graph === undefined ? [] : [t("report.otherGraph")]),
  ];
  return all.length === 0 ? t("whatIf.noChange") : all.join(", ");
}

const nameOf = (grid: WhatIfView, row: number): string => grid.names[row] ?? "";

export function gridText(grid: WhatIfView, results: readonly WhatIfResult[]): string {
  return report(
    t("whatIf.title", { step: grid.step }),
    list([
      momentLine(grid.threadId, grid.checkpointId, grid.step),
      fullTime(grid.madeAt),
      t(grid.base.followed ? "whatIf.baseFollowed" : "whatIf.baseMoment"),
    ]),
    part(
      t("whatIf.rows"),
      grid.grid.rows
        .map(
          (row, at) =>
            `${at + 1}. ${[nameOf(grid, at), changesOf(row)].filter((text) => text !== "").join(": ")}`,
        )
        .join("\n"),
    ),
    table(
      [
        t("whatIf.column.row"),
        t("whatIf.column.name"),
        t("whatIf.column.status"),
        t("whatIf.column.score"),
        t("whatIf.column.changes"),
        t("whatIf.column.tokens"),
        t("whatIf.column.cost"),
        t("whatIf.column.time"),
      ],
      results.map((result) => [
        numberOf(grid, result),
        nameOf(grid, result.row),
        t(`whatIf.status.${result.status}`),
        result.score === undefined ? (result.scoreNote ?? "") : plain(result.score, 40),
        explained(result),
        result.tokens > 0 ? count(result.tokens) : "",
        costOf(result),
        duration(result.millis),
      ]),
    ),
    results.some(({ unpriced, tokens }) => unpriced && tokens > 0) ? t("whatIf.unpriced") : "",
  );
}
