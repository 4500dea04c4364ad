/** Which steps read and wrote an item of long-term memory, and what it was at a moment, as far as their records say. */
import { useCallback, useEffect, useState } from "react";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { ItemUse } from "../../ipc/bindings/ItemUse";
import { rpc } from "../../ipc/client";

/** Uses that are looked for at first, and with each press of the button. */
const PAGE = 100;

export interface Uses {
  /** The newest first. */
  readonly uses: readonly ItemUse[];
  /** Threads that were read so far. */
  readonly searched: number;
  readonly busy: boolean;
  /** There are threads that were not read. */
  readonly more: boolean;
  readonly problem: ShownProblem | null;
}

const NOTHING: Uses = { uses: [], searched: 0, busy: true, more: false, problem: null };

const newestFirst = (a: ItemUse, b: ItemUse): number => Date.parse(b.at) - Date.parse(a.at);

/** Reads the threads, the newest first, until enough was found. */
export function useUses(namespace: readonly string[], key: string): Uses & { readMore(): void } {
  const [state, setState] = useState<Uses>(NOTHING);
  const [most, setMost] = useState(PAGE);
  const place = JSON.stringify(namespace);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      let found: Uses = NOTHING;
      setState(found);
      let after: string | undefined;
      do {
        const answer = await rpc(
          "store.uses",
          {
            namespace: JSON.parse(place) as string[],
            key,
            limit: most - found.uses.length,
            ...(after !== undefined && { after }),
          },
          abort.signal,
        );
        after = answer.progress.next;
        const more = after !== undefined;
        found = {
          uses: [...found.uses, ...answer.uses].sort(newestFirst),
          searched: found.searched + answer.progress.searched,
          busy: more && found.uses.length + answer.uses.length < most,
          more,
          problem: null,
        };
        setState(found);
      } while (found.busy);
    };
    read().catch((thrown: unknown) => {
      if (!abort.signal.aborted) setState({ ...NOTHING, busy: false, problem: asProblem(thrown) });
    });
    return () => abort.abort();
  }, [place, key, most]);
  const readMore = useCallback(() => setMost((now) => now + PAGE), []);
  return { ...state, readMore };
}

/** What is known of an item at a moment. */
export type KnownAt =
  /** It has not been put since: what it is now. */
  | { readonly kind: "same" }
  /** As a step read or wrote it last before that. */
  | { readonly kind: "use"; readonly use: ItemUse }
  | { readonly kind: "unknown" };

/** The item at a moment. `item` is the item as it is now, and `uses` are all that are known. */
export function itemAt(
  item: { readonly updatedAt: string },
  uses: readonly ItemUse[],
  moment: string,
): KnownAt {
  const then = Date.parse(moment);
  if (Date.parse(item.updatedAt) <= then) return { kind: "same" };
  const before = uses.filter((use) => Date.parse(use.at) <= then).sort(newestFirst);
  const last = before[0];
  return last === undefined ? { kind: "unknown" } : { kind: "use", use: last };
}
