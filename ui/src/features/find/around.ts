/** What the filters know of the graph that is shown: problems, nodes that no run comes to, changes since the last commit. */
import { useMemo } from "react";
import { useDocumentState, useDocumentVersion } from "../../document/store";
import { useSession } from "../../state/session";
import { changesNow, useGit } from "../git";
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
  const changes = asked ? changesNow(useGit.getState().view) : null;
  const changed = new Set(changes?.records.map(({ id }) => id));
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
  const view = useGit((state) => state.view);
  const version = useDocumentVersion();
  const changing = nodes === "changed" ? version : 0;
  return useMemo(() => {
    void [kinds, graphId, byRecord, nodes, view, changing];
    return aroundNow();
  }, [kinds, graphId, byRecord, nodes, view, changing]);
}
