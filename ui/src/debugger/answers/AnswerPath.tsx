/** The way that an answer would lead: the nodes of each step with their side effects, and how it ends. */
import { ChevronRight, RotateCcw, TriangleAlert } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { cx } from "../../components/cx";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import type { ExchangeCost } from "../../ipc/bindings/ExchangeCost";
import type { PreviewEnd } from "../../ipc/bindings/PreviewEnd";
import type { PreviewNode } from "../../ipc/bindings/PreviewNode";
import { duration, fullTime, listed, money } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { nodeName, readableError } from "../parts/format";

const EFFECTS: Readonly<Record<string, TextKey>> = {
  once: "debug.preview.once",
  idempotent: "debug.preview.idempotent",
  unknown: "debug.preview.unknown",
};

/** Its room is kept while it is not known yet, and is seen to be: nothing moves under a pointer. */
export function AnswerPath({ preview }: { preview: AnswerPreview | undefined }) {
  if (preview === undefined)
    return (
      <span className="mt-0.5 flex h-4 items-center" aria-hidden>
        <span className="h-1.5 w-28 rounded-sm bg-surface-4" />
      </span>
    );
  const { steps, end } = preview;
  return (
    <span
      className="mt-0.5 flex min-h-4 flex-wrap items-center gap-x-1 text-xs text-text-2"
      data-testid={debugIds.answerPath}
      aria-label={textOf(preview)}
    >
      {steps.map((nodes, index) => (
        <Item key={index}>
          {nodes.map((node, at) => (
            <Fragment key={node.node}>
              {at > 0 && <span>+</span>}
              <Node node={node} />
            </Fragment>
          ))}
        </Item>
      ))}
      <Item>
        <span className={cx("line-clamp-2 min-w-0 wrap-anywhere", end.type === "fails" && "text-failed")}>
          {endText(end)}
        </span>
      </Item>
      <Expected preview={preview} />
    </span>
  );
}

/** What follows, with the arrow that leads to it. */
const Item = ({ children }: { children: ReactNode }): ReactNode => (
  <span className="inline-flex min-w-0 items-start gap-1">
    <ChevronRight size={12} className="mt-0.5 -ml-0.5 shrink-0 text-text-3" aria-hidden />
    {children}
  </span>
);

function Node({ node }: { node: PreviewNode }) {
  const effect = node.effect === undefined ? undefined : EFFECTS[node.effect];
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-1">
      <span className="font-medium text-text wrap-anywhere">{nodeName(node.node)}</span>
      {node.tasks > 1 && <span>×{node.tasks}</span>}
      {effect !== undefined && (
        <span
          className={`inline-flex items-center gap-0.5 whitespace-nowrap ${node.effect === "idempotent" ? "" : "text-asking"}`}
          title={t("debug.preview.effect")}
        >
          <TriangleAlert size={11} className="shrink-0" aria-hidden />
          {t(effect)}
        </span>
      )}
      <DoneBefore node={node} />
    </span>
  );
}

/** What the node did already on another branch, which the answer would do again. */
function DoneBefore({ node }: { node: PreviewNode }) {
  const last = node.done?.at(-1);
  if (last === undefined) return null;
  return (
    <span
      className="inline-flex items-center gap-0.5 whitespace-nowrap text-asking"
      title={t("debug.preview.doneBeforeHint", { time: fullTime(last.lastAt) })}
      data-testid={debugIds.doneBefore}
    >
      <RotateCcw size={11} className="shrink-0" aria-hidden />
      {t("debug.preview.doneBefore")}
    </span>
  );
}

/**
 * Time and costs of the nodes on the way, where they ran before: tasks of a step work side by side, and each has its cost.
 */
export function expected({ steps }: AnswerPreview): {
  readonly millis: number;
  readonly costs: readonly ExchangeCost[];
} {
  const longest = steps.map((nodes) => Math.max(0, ...nodes.map((node) => node.earlier?.millis ?? 0)));
  const costs = steps
    .flat()
    .flatMap(({ earlier, tasks }) =>
      earlier?.cost ? [{ ...earlier.cost, amount: earlier.cost.amount * tasks }] : [],
    );
  return { millis: longest.reduce((sum, millis) => sum + millis, 0), costs };
}

/** Time and cost in words; empty when nothing is known of them. */
export function expectedText(preview: AnswerPreview): string {
  const { millis, costs } = expected(preview);
  const currency = costs[0]?.currency;
  const parts = [
    ...(millis >= 100 ? [duration(millis)] : []),
    ...(currency !== undefined && costs.every((cost) => cost.currency === currency)
      ? [
          money(
            costs.reduce((sum, cost) => sum + cost.amount, 0),
            currency,
          ),
        ]
      : []),
  ];
  return parts.length === 0 ? "" : `≈ ${parts.join(" · ")}`;
}

function Expected({ preview }: { preview: AnswerPreview }) {
  const text = expectedText(preview);
  if (text === "") return null;
  return (
    <span className="tabular-nums text-text-3" title={t("debug.preview.earlier")}>
      {text}
    </span>
  );
}

/** How it ends, in words. */
function endText(end: PreviewEnd): string {
  switch (end.type) {
    case "done":
      return t("debug.end");
    case "asks":
      if (end.refused !== undefined) return t("debug.preview.refused", { why: end.refused });
      return end.text === undefined
        ? t("debug.preview.asks", { node: end.node })
        : t("debug.preview.asksText", { node: end.node, text: end.text });
    case "fails":
      return t("debug.preview.fails", { node: end.node, error: readableError(end.error) });
    case "depends": {
      const targets = end.targets.map(nodeName).join(t("debug.preview.or"));
      if (end.keys.length === 0) return t("debug.preview.decides", { node: end.node, targets });
      return t("debug.preview.depends", { keys: listed(end.keys), targets });
    }
    case "goes-on":
      return t("debug.preview.goesOn");
  }
}

function nodeText({ node, tasks, effect, done }: PreviewNode): string {
  const key = effect === undefined ? undefined : EFFECTS[effect];
  const known = [
    ...(key === undefined ? [] : [t(key)]),
    ...(done === undefined ? [] : [t("debug.preview.doneBefore")]),
  ];
  const marks = [...(tasks > 1 ? [`×${tasks}`] : []), ...(known.length === 0 ? [] : [`(${listed(known)})`])];
  return [nodeName(node), ...marks].join(" ");
}

/** The way in one line: `pay (once) → close → End`. */
export function textOf(preview: AnswerPreview): string {
  const steps = preview.steps.map((nodes) => nodes.map(nodeText).join(" + "));
  return [...steps, endText(preview.end)].join(" → ");
}
