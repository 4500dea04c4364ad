/** The state key that the canvas shows the use of: nodes that write it, nodes that read it, and the rest in the background. */
import { create } from "zustand";
import { doc } from "./store";
import { edgeOf, sectionOf } from "./types";

export type LitRole = "writes" | "reads" | "both";

const useLit = create<{ readonly roles: ReadonlyMap<string, LitRole> | null }>(() => ({ roles: null }));

interface Use {
  readonly readers: readonly string[];
  readonly writers: readonly string[];
}

/** The nodes of records that use a key; a condition on an edge is read where the edge leaves. */
export function rolesOf(use: Use): ReadonlyMap<string, LitRole> {
  const roles = new Map<string, LitRole>();
  const put = (records: readonly string[], role: "writes" | "reads") => {
    for (const record of records) {
      const place = sectionOf(record);
      const names =
        place?.section === "node"
          ? [place.name]
          : place?.section === "edge"
            ? edgeOf(doc.get(record)).sources
            : [];
      for (const name of names) roles.set(name, (roles.get(name) ?? role) === role ? role : "both");
    }
  };
  put(use.writers, "writes");
  put(use.readers, "reads");
  return roles;
}

/** Shows who uses a key; null, or a key that nobody uses, shows everything as ever. */
export function light(use: Use | null): void {
  const roles = use === null ? null : rolesOf(use);
  useLit.setState({ roles: roles === null || roles.size === 0 ? null : roles });
}

/** The same for drawing on a canvas element; and what draws is woken when it changes. */
export const readLit = (): ReadonlyMap<string, LitRole> | null => useLit.getState().roles;
export const onLit = (listener: () => void): (() => void) => useLit.subscribe(listener);

/** The other way round: the node whose keys the list of the state shows, while Shift is held over it. */
const useShownNode = create<{ readonly node: string | null }>(() => ({ node: null }));

export function showKeysOf(node: string | null): void {
  if (useShownNode.getState().node !== node) useShownNode.setState({ node });
}

/** What the node that is shown does with a key; null when it does not use it, or no node is shown. */
export function useRoleOfKey(use: Use): LitRole | null {
  return useShownNode(({ node }) => (node === null ? null : (rolesOf(use).get(node) ?? null)));
}

/** What a node does with the key that is shown: `none` when nothing, null when no key is shown. */
export function useLitRole(node: string): LitRole | "none" | null {
  return useLit(({ roles }) => (roles === null ? null : (roles.get(node) ?? "none")));
}
