/**
 * Frames that a person has folded to one card: which, and what lay in each then. Never of the document; kept in this
 * browser, by graph. What a frame held when it was folded stays in it until it is unfolded, wherever else something is put.
 */
import { listed } from "../lib/intl";
import { t } from "../lib/texts";
import { announce } from "../state/announce";
import { useSession, type Selection } from "../state/session";
import { graphStore } from "./graph-store";
import { isHidden, type Ends, type Hidden } from "./hidden-wires";
import { withHeld } from "./notes";
import { scene } from "./scene";

type Folded = Readonly<Record<string, readonly string[]>>;

const folded = graphStore<readonly string[]>("superstep.folded", Array.isArray);

const draw = () => scene.setFolded(new Map(Object.entries(folded.now())));
draw();
folded.subscribe(draw);
useSession.subscribe((now, before) => {
  if (now.graphKey !== before.graphKey) draw();
  // Whoever chooses one node, in a list or a message, wants to see it.
  const [only, ...others] = now.selection.nodes;
  if (now.selection !== before.selection && only !== undefined && others.length === 0) unfoldAround(only);
});

const without = (folds: Folded, frames: readonly string[]): Folded =>
  Object.fromEntries(Object.entries(folds).filter(([frame]) => !frames.includes(frame)));

/** Folds frames, or unfolds them when all of them are folded. What was selected in one is selected no longer. */
export function toggleFolds(frames: readonly string[]): void {
  const folds = folded.now();
  const open = frames.filter((frame) => !scene.isFolded(frame));
  announce(t(open.length === 0 ? "folds.said.unfolded" : "folds.said.folded", { names: listed(frames) }));
  if (open.length === 0) {
    folded.set(without(folds, frames));
    return;
  }
  const held = open.map((frame) => {
    const names = [...withHeld(scene, [frame])].filter(
      (name) => name !== frame && scene.doc.has(`node:${name}`),
    );
    return [frame, names] as const;
  });
  folded.set({ ...folds, ...Object.fromEntries(held) });
  const { selection, select } = useSession.getState();
  const seen = selection.nodes.filter((name) => scene.shown(name) === name);
  if (seen.length < selection.nodes.length) select({ nodes: seen.length > 0 ? seen : [...open] });
}

export const unfoldAll = (): void => folded.set({});
export const someFolded = (): boolean => Object.keys(folded.now()).some((frame) => scene.isFolded(frame));

/** Unfolds whatever a node is in, so that it is drawn itself. */
export function unfoldAround(name: string): void {
  for (let shown = scene.shown(name); shown !== name && shown in folded.now(); shown = scene.shown(name))
    folded.set(without(folded.now(), [shown]));
}

/** A node has another name. */
export function renameInFolds(from: string, to: string): void {
  const folds = folded.now();
  const named = (name: string) => (name === from ? to : name);
  if (!Object.entries(folds).some(([frame, names]) => frame === from || names.includes(from))) return;
  folded.set(
    Object.fromEntries(Object.entries(folds).map(([frame, names]) => [named(frame), names.map(named)])),
  );
}

/** Is a wire out of sight? One that ends at a folded frame is one of its wires, too. */
export function isOutOfSight(
  line: Ends,
  hidden: Hidden,
  selection: Pick<Selection, "nodes" | "edges">,
): boolean {
  const drawn = { ...line, from: scene.shown(line.from), to: scene.shown(line.to) };
  return isHidden(line, { ...hidden, others: false }, selection) || isHidden(drawn, hidden, selection);
}
