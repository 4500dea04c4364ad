/** The values that the tree shows: those that did not come along with the state are fetched when they are needed. */
import { useEffect, useMemo } from "react";
import { escapePointer } from "../../debugger/parts/diff";
import type { Loaded } from "../../debugger/model/snapshots";
import { gained, hereValue } from "../../debugger/state/state-rows";
import { loadTail, loadValue, tailId, useValues, valueId } from "../../debugger/state/values";

/** Values larger than this are searched only once they have been opened. */
const SEARCH_BYTES = 2_000_000;

interface Wanted {
  readonly open: ReadonlySet<string>;
  readonly chat: ReadonlySet<string>;
  readonly fromStart: ReadonlySet<string>;
  readonly search: string;
}

export function useTreeValues({ view, place }: Loaded, { open, chat, fromStart, search }: Wanted) {
  const entries = useValues((store) => store.entries);
  const loadedValues = useMemo(
    () =>
      new Map(
        view.keys.flatMap((key) => {
          const found = entries.get(valueId(place, view, key));
          return found ? [[key.key, found] as const] : [];
        }),
      ),
    [entries, view, place],
  );

  const tails = useMemo(
    () =>
      new Map(
        view.keys.flatMap((key) => {
          const found = entries.get(tailId(valueId(place, view, key)));
          return found ? [[key.key, found] as const] : [];
        }),
      ),
    [entries, view, place],
  );

  // An open key whose value is not here is fetched.
  useEffect(() => {
    for (const key of view.keys) {
      if (!open.has(`/${escapePointer(key.key)}`)) continue;
      const have = loadedValues.get(key.key);
      if (hereValue(key, have).complete) continue;
      const fresh = fromStart.has(key.key) || chat.has(key.key) ? undefined : gained(key);
      if (fresh !== undefined) void loadTail(place, view, key, fresh);
      else if (!have) void loadValue(place, view, key);
    }
  }, [open, view, place, loadedValues, fromStart, chat]);

  // What is searched must be here; only what is really big has to be asked for by opening it.
  const searching = search.trim() !== "";
  useEffect(() => {
    if (!searching) return;
    const timer = setTimeout(() => {
      for (const key of view.keys) {
        const have = loadedValues.get(key.key);
        if (!hereValue(key, have).complete && !have?.problem && (key.value?.bytes ?? 0) <= SEARCH_BYTES) {
          void loadValue(place, view, key, "all");
        }
      }
    }, 200);
    return () => clearTimeout(timer);
  }, [searching, view, place, loadedValues]);
  const unsearched = searching
    ? view.keys.filter(
        (key) =>
          !hereValue(key, loadedValues.get(key.key)).complete && (key.value?.bytes ?? 0) > SEARCH_BYTES,
      )
    : [];

  return { loadedValues, tails, unsearched };
}
