/** Going to what was found: opens the graph, shows the record, puts the cursor into the field. */
import { goToRecord } from "../../canvas/go-to";
import { openGraph, settle } from "../../document/open-graph";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import type { Hit, Row } from "./rows";
import { useFind } from "./search";

/** The rows that the panel shows, for the keys that walk through them from anywhere. */
let shown: readonly Row[] = [];

export function followRows(rows: readonly Row[]): void {
  shown = rows;
}

export async function goToHit(hit: Hit, row: string | null): Promise<void> {
  useFind.setState({ at: row });
  try {
    if (hit.graphId !== useSession.getState().graphId) {
      const { graphId, path } = hit;
      await settle();
      openGraph(
        graphId === null
          ? await rpc("graph.open", { path: path ?? "" })
          : await rpc("graph.get", { graphId }),
      );
      // The canvas shows another graph with its next frame.
      await new Promise((shown) => requestAnimationFrame(shown));
    }
    goToRecord(hit.record, hit.pointer);
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Goes to the next match, or the one before. */
export function step(by: 1 | -1): void {
  const rows = shown.filter(
    (row) => row.kind === "hit" || (row.kind === "record" && row.hits[0]?.shown === null),
  );
  if (rows.length === 0) return;
  const { at } = useFind.getState();
  const now = rows.findIndex((row) => row.id === at);
  const next = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : (now + by + rows.length) % rows.length];
  const hit = next?.kind === "hit" ? next.hit : next?.kind === "record" ? next.hits[0] : undefined;
  if (next && hit) void goToHit(hit, next.id);
}
