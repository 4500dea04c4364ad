/** What the playground knows beside the exchange: the settings of the node that asked, and the connections to choose from. */
import { useEffect, useState } from "react";
import type { Subject } from "../../debugger/exchanges/playground";
import { doc } from "../../document/store";
import { type JsonObject, nodeOf } from "../../document/types";
import { rpc } from "../../ipc/client";

/** The settings of the node that asked, where it is a `model` node of the open graph. */
export function configOf(subject: Subject): JsonObject | null {
  if (subject.node === null) return null;
  const node = nodeOf(doc.get(`node:${subject.node}`));
  return node.kind === "model" ? node.config : null;
}

/** Names of connections, for the field of the model. */
export function useConnections(): readonly { value: string; hint: string }[] {
  const [connections, setConnections] = useState<{ value: string; hint: string }[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("connections.list", {}, abort.signal).then(
      (list) =>
        setConnections(
          list.connections.map(({ name, provider }) => ({ value: `${name}::`, hint: provider })),
        ),
      () => {
        // A name can be written all the same.
      },
    );
    return () => abort.abort();
  }, []);
  return connections;
}
