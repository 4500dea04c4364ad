/** The node that the selection is about: the selected one, or the one that a selected edge leaves. */
import { doc } from "../../document/store";
import { edgeOf, END, START } from "../../document/types";
import { useSession } from "../../state/session";

export function useSubjectNode(): string | undefined {
  return useSession(({ selection: { nodes, edges } }) => {
    if (nodes.length + edges.length !== 1) return undefined;
    const [edge] = edges;
    const [node] = edge === undefined ? nodes : edgeOf(doc.get(`edge:${edge}`)).sources;
    return node === START || node === END ? undefined : node;
  });
}
