/** What an overview asks for, and how its figures read. Pure. */
import type { ExchangeCost } from "../../ipc/bindings/ExchangeCost";
import type { RunGroup } from "../../ipc/bindings/RunGroup";
import type { RunLine } from "../../ipc/bindings/RunLine";
import type { OverviewStatus } from "../../ipc/bindings/OverviewStatus";
import type { RunPeriod } from "../../ipc/bindings/RunPeriod";
import type { RunSlice } from "../../ipc/bindings/RunSlice";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { money } from "../../lib/intl";
import { t } from "../../lib/texts";

export const PERIODS = ["day", "week", "month", "all"] as const;
export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;
const LENGTH: Record<Exclude<Period, "all">, number> = {
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
};

/** The request for a period that ends at a moment. */
export function periodOf(period: Period, graph: string | null, now: number): RunPeriod {
  return {
    ...(period !== "all" && { since: now - LENGTH[period] }),
    ...(graph !== null && { graph }),
  };
}

export const OUTCOMES: readonly OverviewStatus[] = [
  "done",
  "failed",
  "stopped",
  "waiting",
  "continued",
  "running",
];

export const sameGroup = (a: RunGroup, b: RunGroup): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The heading of the list of a group. */
export function groupText(group: RunGroup): string {
  switch (group.type) {
    case "outcome":
      return t(`overview.${group.outcome}`);
    case "failure":
      return t("overview.list.failure", { node: group.node, class: group.class });
    case "node":
      return t("overview.list.node", { node: group.node });
    default:
      return t(`overview.list.${group.type}`);
  }
}

/** What something cost; `+ ?` where it is not all of it, a dash where nothing was asked of models. */
export function costText(cost: readonly ExchangeCost[], unpriced: number): string {
  const known = cost.map(({ amount, currency }) => money(amount, currency)).join(" + ");
  if (unpriced === 0) return known === "" ? t("overview.nothing") : known;
  return known === "" ? t("trace.noPrice") : t("trace.incomplete", { cost: known });
}

/** The mark of a run: one whose program is gone was stopped. */
export const statusOf = ({ outcome, run }: RunLine): RunStatus =>
  outcome === "stopped" ? "stopped" : run.status;

/** A bar of the picture of when runs began, in a box of 100 by 30; failed runs are its lower part. */
export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly height: number;
  readonly failed: number;
  readonly slice: RunSlice;
}

export function barsOf(slices: readonly RunSlice[]): readonly Bar[] {
  const most = Math.max(1, ...slices.map(({ begun }) => begun));
  const width = 100 / Math.max(1, slices.length);
  return slices.map((slice, index) => ({
    x: index * width,
    width,
    height: (30 * slice.begun) / most,
    failed: (30 * slice.failed) / most,
    slice,
  }));
}
