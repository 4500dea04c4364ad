/** An edit of the canvas as one sentence for screen readers; empty for what the field that changed it says itself. */
import { kindOf } from "../canvas/kinds";
import type { Edited } from "../document/edit-events";
import { joined, type PatchOp } from "../document/patch";
import { edgeOf, END, nodeOf, START } from "../document/types";
import { listed } from "../lib/intl";
import { t, tn } from "../lib/texts";

export const nameOf = (name: string): string =>
  name === START ? t("canvas.start") : name === END ? t("canvas.end") : name;

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const bare = ({ id }: PatchOp): string => id.slice(id.indexOf(":") + 1);
const isOf = (section: string) => (op: PatchOp) => op.id.startsWith(`${section}:`);

function ofNodes(ops: readonly PatchOp[], how: "added" | "deleted"): string[] {
  const [first] = ops;
  if (!first) return [];
  if (ops.length > 1) return [tn(`announce.${how}.node`, `announce.${how}.nodes`, ops.length)];
  const { kind } = nodeOf(first.to ?? first.from ?? undefined);
  return [t(`announce.${how}`, { name: bare(first), kind: kindOf(kind)?.title ?? kind })];
}

function ofEdges(ops: readonly PatchOp[], how: "connected" | "disconnected"): string[] {
  const [first] = ops;
  if (!first) return [];
  if (ops.length > 1) return [tn(`announce.${how}.edge`, `announce.${how}.edges`, ops.length)];
  const { sources, targets } = edgeOf(first.to ?? first.from ?? undefined);
  const names = (all: readonly string[]) => listed(all.map(nameOf));
  return [t(`announce.${how}`, { from: names(sources), to: names(targets) })];
}

/** Edges whose ends are others than before. */
const reconnected = ({ from, to }: PatchOp): boolean =>
  from !== null &&
  to !== null &&
  JSON.stringify(edgeOf(from).paths.map((path) => [path.from, path.to])) !==
    JSON.stringify(edgeOf(to).paths.map((path) => [path.from, path.to]));

function whatChanged({ ops }: { readonly ops: readonly PatchOp[] }): string[] {
  const nodes = ops.filter(isOf("node"));
  const edges = ops.filter(isOf("edge"));
  const moved = ops.filter(isOf("layout"));
  const added = (op: PatchOp) => op.from === null;
  const gone = (op: PatchOp) => op.to === null;
  // What goes and comes in one edit has another name now, or another place in the file: the step says it.
  if (nodes.some(added) && nodes.some(gone)) return [];
  const parts = [
    ...ofNodes(nodes.filter(added), "added"),
    ...ofNodes(nodes.filter(gone), "deleted"),
    ...ofEdges(
      edges.filter((op) => added(op) || reconnected(op)),
      "connected",
    ),
    ...ofEdges(edges.filter(gone), "disconnected"),
  ];
  const [first] = moved;
  if (parts.length > 0 || !first || moved.length < ops.length) return parts;
  return [
    moved.length === 1
      ? t("announce.moved", { name: nameOf(bare(first)) })
      : tn("announce.moved.node", "announce.moved.nodes", moved.length),
  ];
}

/** Edits that follow each other without a pause are said as one. */
export function wordsOfEdits(edits: readonly Edited[]): string {
  const last = edits.at(-1);
  if (!last) return "";
  if (last.how !== "done") return t(`announce.${last.how}`, { name: capital(last.name) });
  const done = edits.filter(({ how }) => how === "done");
  const words = whatChanged(done.map(({ patch }) => patch).reduce(joined));
  if (words.length > 0) return listed(words);
  return last.merged ? "" : capital(last.name);
}
