/** The value of a key at a moment, fetched when it did not come along with the state. */
import { useEffect } from "react";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { Loaded } from "../model/snapshots";
import { hereValue } from "./state-rows";
import { loadValue, useValues, valueId } from "./values";

interface KeyValue {
  /** Absent until it is here; the beginning of it while it is not complete. */
  readonly value: unknown;
  readonly complete: boolean;
  readonly loading: boolean;
  readonly problem: string | undefined;
}

export function useKeyValue({ place, view: snapshot }: Loaded, view: KeyView): KeyValue {
  const entry = useValues((store) => store.entries.get(valueId(place, snapshot, view)));
  const { here, value, complete } = hereValue(view, entry);
  useEffect(() => {
    if (!here && !entry) void loadValue(place, snapshot, view);
  }, [here, entry, place, snapshot, view]);
  return {
    value: here ? value : undefined,
    complete,
    loading: entry?.loading ?? false,
    problem: entry?.problem,
  };
}
