/** What the canvas needs to know about node kinds: name, group, which fields the card shows. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { useSession } from "../state/session";

export function kindOf(kind: string): NodeKind | undefined {
  return useSession.getState().appInfo?.kinds.find((each) => each.kind === kind);
}

/** Every kind, as the host said; none before it did. */
export function knownKinds(): readonly NodeKind[] {
  return useSession.getState().appInfo?.kinds ?? [];
}

export function useKind(kind: string): NodeKind | undefined {
  return useSession((state) => state.appInfo?.kinds.find((each) => each.kind === kind));
}

export function cardsOf(kinds: readonly NodeKind[]): ReadonlyMap<string, readonly string[]> {
  return new Map(kinds.map((each) => [each.kind, each.card]));
}
