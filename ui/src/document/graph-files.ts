/** Graph files that are written and read without being shown. */
import type { PatchOp } from "../ipc/bindings/PatchOp";
import { rpc } from "../ipc/client";
import type { DocumentRecord } from "./document";

/** Writes a graph to a file; over another one only when that is said. */
export async function writeGraph(
  path: string,
  name: string,
  records: readonly DocumentRecord[],
  overwrite = false,
): Promise<void> {
  const view = await rpc("graph.new", { name });
  const graphId = view.graphId;
  try {
    const before = new Map(view.records.map((record) => [record.id, record.value]));
    const ops: PatchOp[] = [...before.keys()]
      .filter((id) => id !== "doc")
      .toReversed()
      .map((id) => ({ id, from: before.get(id) ?? null, to: null }));
    for (const { id, value } of records)
      ops.push({ id, from: id === "doc" ? (before.get(id) ?? null) : null, to: value });
    await rpc("graph.apply", { graphId, baseRev: view.rev, ops });
    await rpc("graph.save", { graphId, path, overwrite });
  } finally {
    // What could not be saved is no draft that somebody looks for.
    await rpc("graph.close", { graphId, discard: true }).catch(() => undefined);
  }
}

/** The records of a graph file, with its unsaved changes where it is open. */
export async function readGraphFile(path: string): Promise<DocumentRecord[]> {
  const { open } = await rpc("app.info", {});
  const view = await rpc("graph.open", { path });
  if (!open.some(({ graphId }) => graphId === view.graphId))
    await rpc("graph.close", { graphId: view.graphId, discard: false }).catch(() => undefined);
  return view.records as DocumentRecord[];
}
