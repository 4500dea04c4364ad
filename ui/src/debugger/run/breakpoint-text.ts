/** Breakpoints in words. */
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";

const nodeName = (node: string): string => (node === "*" ? t("breakpoints.anyNode") : node);

/** The place of a breakpoint, such as "check → retry". */
export function placeText(point: Breakpoint): string {
  const node = nodeName(point.node);
  const kind = point.kind ?? "";
  switch (point.when) {
    case "before":
      return t("debug.breakpoints.before", { node });
    case "after":
      return t("debug.breakpoints.after", { node });
    case "edge":
      return `${node} → ${point.to === "__end__" ? t("canvas.end") : nodeName(point.to ?? "")}`;
    case "key":
      return t("breakpoints.key", { key: point.key ?? "" });
    case "error":
      return kind === "" ? t("breakpoints.error", { node }) : t("breakpoints.errorOf", { node, kind });
    case "retry":
      return t("breakpoints.retry", { node });
    case "question":
      return kind === "" ? t("breakpoints.question", { node }) : t("breakpoints.questionOf", { node, kind });
    case "emitted":
      return t("breakpoints.emitted", { node });
    case "steps":
      return t("breakpoints.steps", { n: point.limit ?? 0 });
    case "seconds":
      return t("breakpoints.seconds", { n: point.limit ?? 0 });
    case "stateBytes":
      return t("breakpoints.stateBytes", { n: point.limit ?? 0 });
    case "keyBytes":
      return t("breakpoints.keyBytes", { key: point.key ?? "", n: point.limit ?? 0 });
    case "tokens":
      return t("breakpoints.tokens", { n: point.limit ?? 0 });
    case "cost":
      return t("breakpoints.cost", { amount: point.amount ?? 0 });
    case "watch":
      return t("breakpoints.watch");
  }
}

/** What narrows it, such as "if state.retries > 2, every 3rd hit"; empty for one that always stops. */
export function detailText(point: Breakpoint): string {
  const parts: string[] = [];
  if (point.condition !== undefined) parts.push(t("breakpoints.if", { condition: point.condition }));
  if (point.hits !== undefined) parts.push(t(`breakpoints.hits.${point.hits.rule}`, { n: point.hits.n }));
  if (point.within !== undefined) parts.push(t("breakpoints.within", { path: point.within }));
  if (point.log !== undefined) parts.push(t("breakpoints.logs", { text: point.log }));
  else if (point.once === true) parts.push(t("breakpoints.onceDetail"));
  return listed(parts);
}
