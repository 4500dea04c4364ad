/** A checkpoint of the fork map in words: for screen readers, and for the card beside the pointer. */
import { nodeList } from "../../debugger/parts/format";
import { callOf } from "../../debugger/timeline/branches";
import type { ForkGraph, ForkNode } from "../../debugger/timeline/forks";
import { listed } from "../../lib/intl";
import { t, tn, type TextKey } from "../../lib/texts";
import { branchName, whatHappened } from "../timeline";

export const stepText = (step: number): string =>
  step < 0 ? t("forks.item.start") : t("forks.item.step", { n: step });

const MARKS: Partial<Record<ReturnType<ForkGraph["markOf"]>, TextKey>> = {
  error: "forks.mark.error",
  question: "forks.mark.question",
  stop: "forks.mark.stop",
  answer: "forks.mark.answer",
};

/** What made it and what is to be known of it. */
export function labelsOf(graph: ForkGraph, node: ForkNode): readonly string[] {
  const { checkpoint, parent } = node;
  const mark = MARKS[graph.markOf(node)];
  return [
    whatHappened(checkpoint, checkpoint.source === "loop" ? (parent?.checkpoint.next ?? []) : []),
    checkpoint.bookmark ?? "",
    checkpoint.bookmarkNote ?? "",
    mark ? t(mark) : "",
    graph.stopAt(node) ?? "",
    node.children > 1 ? t("forks.item.forks", { n: node.children - 1 }) : "",
  ].filter((text) => text !== "");
}

export function describe(
  graph: ForkGraph,
  node: ForkNode,
  folded: readonly ForkNode[],
  { shown, compared }: { readonly shown: boolean; readonly compared: boolean },
): string {
  const { checkpoint, chain } = node;
  const name = branchName(callOf(chain));
  if (folded.length > 1) {
    const [from, to] = [folded[0]?.checkpoint.step ?? 0, folded.at(-1)?.checkpoint.step ?? 0];
    return listed([t("forks.item.folded", { n: folded.length, from, to }), name]);
  }
  const parts = [
    stepText(checkpoint.step),
    ...labelsOf(graph, node),
    checkpoint.updated.length > 0 ? t("forks.item.changed", { keys: listed(checkpoint.updated) }) : "",
    checkpoint.next.length > 0 ? t("forks.item.next", { nodes: nodeList(checkpoint.next) }) : t("debug.end"),
    name,
    shown ? t("forks.item.shown") : "",
    compared ? t("forks.item.compared") : "",
  ];
  return listed(parts.filter((text) => text !== ""));
}

export const foldedText = (n: number): string => tn("debug.branches.stepsOne", "forks.steps", n);
