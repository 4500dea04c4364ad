/** What the filters know of the graph that is shown: problems, nodes that no run comes to, changes since the last commit. */
import { useMemo } from "react";
import { useCommitted } from "../../document/changes";
import { diffDocuments } from "../../document/diff";
import { doc, useDocumentState, useDocumentVersion } from "../../document/store";
import { useSession } from "../../state/session";
import { useFind } from "./search";
import type { Around } from "./rows";

/** Problems of a node to which no edge leads a run. */
const UNUSED: ReadonlySet<string> = new Set(["unreachable-node", "unconnected-node"]);

/** As it is now. */
export function aroundNow(): Around {
  const { appInfo, graphId } = useSession.getState();
  const { byRecord } = useDocumentState.getState();
  // Comparing two versions of a large graph takes a while: only for those who ask.
  const asked = useFind.getState().filters.nodes === "changed";
  const { records } = useCommitted.getState();
  const changes = asked && records !== null ? diffDocuments(records, doc.records()).records : [];
  const changed = new Set(changes.map(({ id }) => id));
  return {
    kinds: appInfo?.kinds ?? [],
    graphId,
    isInvalid: (record) => byRecord.has(record),
    isUnused: (record) => byRecord.get(record)?.some(({ code }) => UNUSED.has(code)) === true,
    isChanged: (record) => changed.has(record),
  };
}

export function useAround(): Around {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const graphId = useSession((state) => state.graphId);
  const byRecord = useDocumentState((state) => state.byRecord);
  const nodes = useFind((state) => state.filters.nodes);
  const committed = useCommitted((state) => state.records);
  const version = useDocumentVersion();
  const changing = nodes === "changed" ? version : 0;
  return useMemo(() => {
    void [kinds, graphId, byRecord, nodes, committed, changing];
    return aroundNow();
  }, [kinds, graphId, byRecord, nodes, committed, changing]);
}
