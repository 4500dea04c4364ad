/** The state keys of a moment, with their values as far as they are short: what a change begins with. */
import { useEffect, useState } from "react";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { rpc } from "../../ipc/client";

export function useMomentState(threadId: string, checkpointId: string | null): readonly KeyView[] {
  const [keys, setKeys] = useState<readonly KeyView[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("thread.snapshot", { threadId, ...(checkpointId !== null && { checkpointId }) }, abort.signal).then(
      (snapshot) => {
        if (!abort.signal.aborted) setKeys(snapshot.keys);
      },
      // Keys can be typed all the same.
      () => {},
    );
    return () => abort.abort();
  }, [threadId, checkpointId]);
  return keys;
}
