/** Wires that a person has put out of sight: those of some nodes, or all but the selected nodes' own. Never of the document. */
import { create } from "zustand";
import { useSession, type Selection } from "../state/session";

export interface Hidden {
  /** Only the wires of selected nodes are drawn. */
  readonly others: boolean;
  /** Nodes whose wires are not drawn. */
  readonly nodes: readonly string[];
}

export interface Ends {
  readonly from: string;
  readonly to: string;
  /** The edge, where it is one of the document. */
  readonly edge?: string;
}

const NONE: Hidden = { others: false, nodes: [] };

/** By graph, as long as the window is open. */
export const useHiddenStore = create<{ readonly graphs: Readonly<Record<string, Hidden>> }>(() => ({
  graphs: {},
}));

const keyNow = () => useSession.getState().graphKey ?? "";

export function useHidden(): Hidden {
  const key = useSession((state) => state.graphKey ?? "");
  return useHiddenStore((state) => state.graphs[key] ?? NONE);
}

export const hiddenNow = (): Hidden => useHiddenStore.getState().graphs[keyNow()] ?? NONE;

function setHidden(hidden: Hidden): void {
  useHiddenStore.setState(({ graphs }) => ({ graphs: { ...graphs, [keyNow()]: hidden } }));
}

/** Hides all wires but those of the selected nodes, or shows them again. */
export const toggleOthers = (): void => setHidden({ ...hiddenNow(), others: !hiddenNow().others });

/** Hides the wires of nodes; where all of them are hidden, shows them again. */
export function toggleNodes(names: readonly string[]): void {
  const hidden = hiddenNow();
  const all = names.every((name) => hidden.nodes.includes(name));
  const rest = hidden.nodes.filter((name) => !names.includes(name));
  setHidden({ ...hidden, nodes: all ? rest : [...rest, ...names] });
}

export const showAllWires = (): void => setHidden(NONE);

/** Is a wire out of sight? One that is selected itself is not. */
export function isHidden(
  { from, to, edge }: Ends,
  { others, nodes }: Hidden,
  selection: Pick<Selection, "nodes" | "edges">,
): boolean {
  if (edge !== undefined && selection.edges.includes(edge)) return false;
  if (nodes.length > 0 && (nodes.includes(from) || nodes.includes(to))) return true;
  return others && !selection.nodes.includes(from) && !selection.nodes.includes(to);
}
