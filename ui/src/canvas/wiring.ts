/** The wire that is being drawn, or wires whose ends are moved: what they may be joined to, for cards, ports and words. */
import { ERROR_PORT } from "../document/error-ways";
import { moveWires } from "../document/move-wires";
import { leavingBy } from "../document/ports";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import type { Point } from "../document/edits";
import { END, START } from "../document/types";
import { refusalOf, type Refusal, type WireEnd } from "../document/wire-fit";
import { t, tn } from "../lib/texts";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import { lineSelected } from "./line-selection";
import type { Line } from "./lines";
import { scene } from "./scene";
import { setCanvas, useCanvas, type RefusalWords } from "./store";

/** The end of a line that stays, as a wire whose other end is looked for. */
function stays(line: Line, side: WireEnd["side"]): WireEnd {
  if (side === "in") return { node: line.to, side };
  const leaving =
    line.form === "error"
      ? ({ way: "error" } as const)
      : line.port === null
        ? ({ way: "always" } as const)
        : leavingBy(line.port);
  return { node: line.from, side, leaving };
}

/** A line goes back where it was without a word; one under a condition may lead where another one leads. */
function refusalOfLine(end: WireEnd, line: Line, node: string): Refusal | null {
  if (node === (end.side === "out" ? line.to : line.from)) return null;
  const refusal = refusalOf(doc, end, node);
  const bound = line.form === "plain" || line.form === "error" || line.port !== null;
  return refusal === "exists" && !bound ? null : refusal;
}

const nameOf = (node: string) => (node === START ? t("forms.start") : node === END ? t("forms.end") : node);

/** Why a wire does not go there, and what to do. */
function wordsOf(refusal: Refusal, { node: one, side }: WireEnd, node: string): RefusalWords {
  const [from = "", to = ""] = (side === "out" ? [one, node] : [node, one]).map(nameOf);
  const places = { from, to, node: nameOf(node) };
  return { title: t(`wires.refused.${refusal}`, places), text: t(`wires.refused.${refusal}.text`, places) };
}

/** Nodes are asked about once. */
function begin(
  node: string,
  side: WireEnd["side"],
  words: (node: string) => RefusalWords | null,
  carried: readonly Line[],
): void {
  const known = new Map<string, RefusalWords | null>();
  const refusal = (name: string): RefusalWords | null => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = words(name);
    known.set(name, found);
    return found;
  };
  setCanvas({ wiring: { node, side, refusal, carried } });
}

/** Begins a wire at a port, or takes the loose end of a line. */
export function beginWire(end: WireEnd, line: Line | null): void {
  const from = line === null ? end : stays(line, end.side);
  const words = (node: string) => {
    const refusal = line === null ? refusalOf(doc, from, node) : refusalOfLine(from, line, node);
    return refusal && wordsOf(refusal, from, node);
  };
  begin(end.node, end.side, words, []);
}

/** The wires of a port: those that lead into the node, or leave it there; without a port, those of all. */
function wiresOf(node: string, side: WireEnd["side"], port: string | null | undefined): Line[] {
  return scene
    .edgesOf(node)
    .flatMap((edge) => scene.linesOf(edge))
    .filter((line) =>
      side === "in" ? line.to === node : line.from === node && (port === undefined || line.port === port),
    );
}

/** Takes the ends of all wires at a port of the node; false when there are none. */
export function beginMove(node: string, side: WireEnd["side"], port: string | null): boolean {
  return take(node, side, wiresOf(node, side, port));
}

/** The head of an arrow begins this far before the border of its card, outside of which it is gripped. */
const HEAD_BEGINS = 1.5;

/** Takes the wire whose arrow head is pressed before a card, the selected one of several; false for a press on none. */
export function beginHead(node: string, at: Point): boolean {
  const rect = scene.rect(node);
  if (!rect || at.x >= rect.x - HEAD_BEGINS) return false;
  const lines = wiresOf(node, "in", null);
  const { edges } = useSession.getState().selection;
  const chosen = useCanvas.getState().lines;
  const one = lines.find((line) => lineSelected(line, edges, chosen)) ?? lines.at(-1);
  return one !== undefined && take(node, "in", [one]);
}

function take(node: string, side: WireEnd["side"], lines: Line[]): boolean {
  // The ends that are moved are looked for at such ports again.
  const wanted = side === "in" ? "out" : "in";
  const words = (name: string) => {
    for (const line of lines) {
      const refusal = refusalOfLine(stays(line, wanted), line, name);
      // One that is there already takes the other in.
      if (refusal !== null && refusal !== "exists") return wordsOf(refusal, stays(line, wanted), name);
    }
    return null;
  };
  if (lines.length > 0) begin(node, wanted, words, lines);
  return lines.length > 0;
}

/** The wires that a command moves from a node; of one that leaves by several ways, the plain ones. */
export function movable(node: string, side: WireEnd["side"]): Line[] {
  if (side === "in") return wiresOf(node, "in", null);
  const ports = new Set(wiresOf(node, "out", undefined).map(({ port }) => port));
  const [only = null] = ports.size === 1 ? ports : [];
  return wiresOf(node, "out", only);
}

/** The nodes that these wires may be moved to. */
export function placesFor(lines: readonly Line[], node: string, side: WireEnd["side"]): string[] {
  const wanted = side === "in" ? "out" : "in";
  const fits = (name: string) =>
    lines.every((line) => {
      const refusal = refusalOfLine(stays(line, wanted), line, name);
      return refusal === null || refusal === "exists";
    });
  return [...doc.names("node"), side === "in" ? END : START].filter((name) => name !== node && fits(name));
}

/** Moves what was taken to another node; to one of its ports where a single wire is dropped on that. */
export function endMove(
  lines: readonly Line[],
  side: WireEnd["side"],
  node: string,
  port: string | null,
): void {
  const single = lines.length === 1 ? port : null;
  const kept = lines.every((line) => line.form === "error") ? ERROR_PORT : single;
  const name = tn("wires.edit.move.one", "wires.edit.move.many", lines.length, { node: nameOf(node) });
  edit(name, (document) =>
    moveWires(document, lines, side === "out" ? { to: node } : { from: node, port: kept }),
  );
}

export function endWire(): void {
  setCanvas({ wiring: null, refusing: false });
}

/** Would the wire be refused there? False while none is drawn. */
export const useRefused = (node: string): boolean =>
  useCanvas(({ wiring }) => wiring !== null && wiring.node !== node && wiring.refusal(node) !== null);

/** Says why a wire that was dropped on a node is not drawn. */
export const refuse = ({ title, text }: RefusalWords): void => {
  showToast({ tone: "info", text: title, detail: text });
};
