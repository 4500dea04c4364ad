/** What is selected, as the canvas sees it: whole nodes and edges in the session, single lines of an edge here. */
import { useSession } from "../state/session";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import type { Line } from "./lines";

/** Selects a line, alone or added. `whole` takes all lines of its edge. */
export function selectLine(line: Line, add: boolean, whole = false): void {
  const session = useSession.getState();
  const ids = whole ? scene.linesOf(line.edge).map((each) => each.id) : [line.id];
  const before = add ? useCanvas.getState().lines : [];
  const lines = [...new Set([...before, ...ids])];
  setCanvas({ lines });
  session.select({
    nodes: add ? session.selection.nodes : [],
    edges: [...new Set([...(add ? session.selection.edges : []), line.edge])],
  });
}

/** Is this line drawn as selected? */
export function lineSelected(line: Line, edges: readonly string[], lines: readonly string[]): boolean {
  if (!edges.includes(line.edge)) return false;
  const single = lines.filter((id) => id === line.edge || id.startsWith(`${line.edge}|`));
  return single.length === 0 || single.includes(line.id);
}

/** The selected edges, in two groups: those that are meant whole, and single lines of the others. */
export function selectedParts(): { edges: string[]; paths: { edge: string; part: string }[] } {
  const { edges } = useSession.getState().selection;
  const { lines } = useCanvas.getState();
  const whole: string[] = [];
  const paths: { edge: string; part: string }[] = [];
  for (const edge of edges) {
    const all = scene.linesOf(edge);
    const chosen = all.filter((line) => lines.includes(line.id));
    if (chosen.length === 0 || chosen.length === all.length) whole.push(edge);
    else for (const line of chosen) paths.push({ edge, part: line.part });
  }
  return { edges: whole, paths };
}
