/** Problems that only say that somebody has not come to it yet: of what was just added, and of a graph without a node. */
import { useCallback } from "react";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import { doc, useIds } from "../document/store";
import { nodeOf, NOTE } from "../document/types";
import { useCalmAll } from "../state/reduced-motion";

export function useWaits(): (problem: Diagnostic) => boolean {
  const calm = useCalmAll();
  const nodes = useIds("node");
  return useCallback(
    ({ code, record, pointer }) => {
      const isEmpty = () => nodes.every((name) => nodeOf(doc.get(`node:${name}`)).kind === NOTE);
      return calm(record, pointer ?? "") || (code === "no-entry" && isEmpty());
    },
    [calm, nodes],
  );
}
