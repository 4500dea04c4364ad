/** What the query desk found as text, for a report: moments, visits of a probe, decisions that would change. Pure. */
import { nodeList, plain } from "../../debugger/parts/format";
import { code, list, report, table } from "../../debugger/parts/report";
import type { ChangedDecision } from "../../ipc/bindings/ChangedDecision";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import type { Led } from "../../ipc/bindings/Led";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import type { NodeVisit } from "../../ipc/bindings/NodeVisit";
import { fullTime, number } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { reasonText } from "./reason";
import type { Query } from "./query";
import { summaryOf } from "./summary";

/** Why a moment was found, and who ran in its step. */
function matchText(moment: MomentFound): string {
  const place = moment.pointer?.slice(1) ?? reasonText(moment.reason);
  const by = moment.nodes.length > 0 ? t("query.by", { node: nodeList(moment.nodes) }) : t("query.byInput");
  const more = moment.more > 0 ? [tn("query.moreOne", "query.more", moment.more)] : [];
  return [...(place === undefined ? [] : [place]), by, ...more].join(" · ");
}

export const valueOf = (result: Evaluated | undefined): string =>
  result?.message !== undefined
    ? t("query.column.unknown")
    : plain(result?.value?.value ?? result?.value?.head ?? null, 100);

export function ledText({ to, packets }: Led): string {
  const nodes = to.length === 0 ? t("reconsider.nowhere") : nodeList(to);
  return packets === 0 ? nodes : `${nodes} ×${packets}`;
}

interface Place {
  readonly threadId: string;
  readonly title: string;
  readonly checkpointId: string;
  readonly step: number;
  readonly at: string;
}

const PLACE = () => [
  t("query.column.thread"),
  t("query.column.step"),
  t("query.column.time"),
  t("report.moment"),
];
const place = ({ threadId, title, step, at, checkpointId }: Place): string[] => [
  title === "" ? threadId : title,
  String(step),
  fullTime(at),
  code(`${threadId}@${checkpointId}`),
];

/** What was asked, condition by condition. */
const asked = ({ words, conditions }: Query): string =>
  list([
    ...(words.trim() === "" ? [] : [code(words.trim())]),
    ...conditions
      .filter(({ kind, value }) => kind !== "graph" && value.trim() !== "")
      .map(({ kind, value }) => `${t(`query.kind.${kind}`)}: ${code(value.trim())}`),
  ]);

/** Moments that were found, with the person's own columns. */
export function momentsText(
  query: Query,
  columns: readonly string[],
  moments: readonly MomentFound[],
  searched: string,
): string {
  return report(
    t("query.title"),
    asked(query),
    `${tn("query.foundOne", "query.found", moments.length)} · ${searched}`,
    table(
      [...PLACE(), t("query.column.match"), ...columns.map(code)],
      moments.map((moment) => [
        ...place(moment),
        [
          ...(moment.snippet ? [moment.snippet.map(({ text }) => text).join("")] : []),
          matchText(moment),
        ].join(" · "),
        ...columns.map((_, at) => valueOf(moment.columns?.[at])),
      ]),
    ),
  );
}

/** Visits of a probe, and what their values come to. */
export function probeText(
  where: string,
  expression: string,
  visits: readonly NodeVisit[],
  searched: string,
): string {
  const summary = summaryOf(visits);
  const figure = (value: number) => number(value, { maximumSignificantDigits: 6 });
  return report(
    `${t("probe.title")}: ${where}`,
    `${code(expression)} · ${tn("probe.foundOne", "probe.found", visits.length)} · ${searched}`,
    summary === null
      ? ""
      : summary.kind === "numbers"
        ? t("probe.chart", {
            low: figure(summary.low),
            high: figure(summary.high),
            mean: figure(summary.mean),
          })
        : list([
            ...summary.counts.map(({ text, n }) => `${code(text)} ×${n}`),
            ...(summary.more > 0 ? [t("probe.more", { n: summary.more })] : []),
          ]),
    table(
      [...PLACE(), code(expression)],
      visits.map((visit) => [...place(visit), valueOf(visit.result)]),
    ),
  );
}

interface Reconsidered {
  readonly edge: string;
  readonly was: string;
  readonly draft: string;
  /** The answer in a sentence, and what it leaves out. */
  readonly answer: readonly string[];
}

export function reconsiderText(
  { edge, was, draft, answer }: Reconsidered,
  rows: readonly ChangedDecision[],
): string {
  return report(
    `${t("reconsider.title")}: ${edge}`,
    list([`${t("report.before")}: ${code(was)}`, `${t("report.after")}: ${code(draft)}`]),
    answer.join("\n"),
    table(
      [...PLACE(), t("report.before"), t("report.after")],
      rows.map((row) => [...place(row), ledText(row.was), ledText(row.now)]),
    ),
  );
}
