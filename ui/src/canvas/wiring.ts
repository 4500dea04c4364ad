/** The wire that is being drawn, or whose end is moved: what it may be joined to, for cards, ports and the words beside it. */
import { leavingBy } from "../document/ports";
import { doc } from "../document/store";
import { END, START } from "../document/types";
import { refusalOf, type Refusal, type WireEnd } from "../document/wire-fit";
import { t } from "../lib/texts";
import { showToast } from "../state/toasts";
import type { Line } from "./lines";
import { setCanvas, useCanvas } from "./store";

/** A line goes back where it was without a word; one under a condition may lead where another one leads. */
function refusalOfLine(end: WireEnd, line: Line, node: string): Refusal | null {
  if (node === (end.side === "out" ? line.to : line.from)) return null;
  if (line.form === "error") return refusalOf(doc, { ...end, leaving: { way: "error" } }, node);
  if (line.port !== null) return refusalOf(doc, { ...end, leaving: leavingBy(line.port) }, node);
  const refusal = refusalOf(doc, { ...end, leaving: { way: "always" } }, node);
  return refusal === "exists" && line.form !== "plain" ? null : refusal;
}

/** Begins a wire at a port, or takes the loose end of a line; nodes are asked about once. */
export function beginWire(end: WireEnd, line: Line | null): void {
  const known = new Map<string, Refusal | null>();
  const refusal = (node: string): Refusal | null => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const found = line === null ? refusalOf(doc, end, node) : refusalOfLine(end, line, node);
    known.set(node, found);
    return found;
  };
  setCanvas({ wiring: { end, refusal } });
}

export function endWire(): void {
  setCanvas({ wiring: null, refusing: false });
}

/** Would the wire be refused there? False while none is drawn. */
export const useRefused = (node: string): boolean =>
  useCanvas(({ wiring }) => wiring !== null && wiring.end.node !== node && wiring.refusal(node) !== null);

const nameOf = (node: string) => (node === START ? t("forms.start") : node === END ? t("forms.end") : node);

export interface RefusalWords {
  readonly title: string;
  readonly text: string;
}

/** Why the wire does not go there, and what to do. */
export function refusalWords(refusal: Refusal, { node: one, side }: WireEnd, node: string): RefusalWords {
  const [from, to] = (side === "out" ? [one, node] : [node, one]).map(nameOf);
  const places = { from: from ?? "", to: to ?? "", node: nameOf(node) };
  return { title: t(`wires.refused.${refusal}`, places), text: t(`wires.refused.${refusal}.text`, places) };
}

/** Says why a wire that was dropped on a node is not drawn. */
export function refuse(refusal: Refusal, end: WireEnd, node: string): void {
  const { title, text } = refusalWords(refusal, end, node);
  showToast({ tone: "info", text: title, detail: text });
}
