/** What the models of a run that is over have cost, by currency; nothing when one of them has no price. */
import { useEffect, useState } from "react";
import type { RunView } from "../../ipc/bindings/RunView";
import { rpc } from "../../ipc/client";
import { usePriceChanges } from "../../state/prices";
import { sum, type Sum } from "./exchange-text";

export function useRunCost(run: RunView | undefined): Sum["cost"] {
  const [read, setRead] = useState<{ readonly runId: string; readonly cost: Sum["cost"] } | null>(null);
  const prices = usePriceChanges();
  const over = run?.endedAt !== undefined ? run : undefined;
  const runId = over?.runId;
  const threadId = over?.threadId;
  const since = over && Date.parse(over.startedAt);
  useEffect(() => {
    if (runId === undefined || threadId === undefined || since === undefined || Number.isNaN(since)) return;
    const abort = new AbortController();
    rpc("thread.exchanges", { threadId, since, brief: true }, abort.signal)
      .then(({ exchanges }) => setRead({ runId, cost: sum(exchanges).cost }))
      // A price that cannot be read is not shown.
      .catch(() => {});
    return () => abort.abort();
  }, [runId, threadId, since, prices]);
  return read !== null && read.runId === runId ? read.cost : null;
}
