/** A fork that is made at once, not collected as edits: values written at a past checkpoint, as a node or as the one before. */
import type { Updated } from "../../ipc/bindings/Updated";
import { rpc } from "../../ipc/client";
import { flush } from "../../document/store";
import { useSession } from "../../state/session";
import { takingOver } from "../../state/take-over";
import { loadCheckpoints, snapshots } from "../model/runStore";
import { tellLeftAt } from "./actions";

export interface ForkEdit {
  readonly threadId: string;
  readonly checkpointId: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Keys whose value replaces what is there, past their reducer. */
  readonly overwrite: readonly string[];
  /** Absent: the node that ran last. */
  readonly asNode?: string;
}

async function update(edit: ForkEdit, preview: boolean, signal?: AbortSignal): Promise<Updated> {
  await flush();
  const { graphId } = useSession.getState();
  const { threadId, checkpointId, values, overwrite, asNode } = edit;
  return takingOver((flag) =>
    rpc(
      "thread.update",
      {
        ...flag,
        threadId,
        checkpointId,
        ...(graphId !== null && { graphId }),
        values,
        overwrite: [...overwrite],
        ...(asNode !== undefined && { asNode }),
        preview,
      },
      signal,
    ),
  );
}

/** What would run next. */
export const previewFork = (edit: ForkEdit, signal: AbortSignal): Promise<Updated> =>
  update(edit, true, signal);

/** Makes it, and goes there. */
export async function makeFork(edit: ForkEdit): Promise<Updated> {
  const updated = await update(edit, false);
  snapshots.reset(edit.threadId);
  useSession.getState().setCursor({ threadId: edit.threadId, checkpointId: null, taskId: null });
  await loadCheckpoints(edit.threadId, true);
  void tellLeftAt(edit.threadId, updated.checkpointId);
  return updated;
}
