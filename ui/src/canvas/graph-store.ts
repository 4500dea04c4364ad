/**
 * What a person has set up on the canvas of a graph and its file does not know: kept in this browser, by graph. A graph that
 * is saved for the first time, or elsewhere, is known by its new file.
 */
import { create } from "zustand";
import { isObject } from "../document/types";
import { useSession } from "../state/session";

type Entries<T> = Readonly<Record<string, T>>;

/** Values by name, of the graph that is open. */
export interface GraphStore<T> {
  now(): Entries<T>;
  /** Without entries nothing is kept. */
  set(entries: Entries<T>): void;
  /** Calls when the values of any graph have changed. */
  subscribe(listener: () => void): () => void;
}

const NONE = {};

export function graphStore<T>(item: string, isValue: (value: unknown) => boolean): GraphStore<T> {
  const graphs = create<Entries<Entries<T>>>(() => read(item, isValue) as Entries<Entries<T>>);
  const key = () => useSession.getState().graphKey ?? "";
  const keep = (next: Entries<Entries<T>>) => {
    graphs.setState(next, true);
    try {
      localStorage.setItem(item, JSON.stringify(next));
    } catch {
      // Without storage they last as long as the window.
    }
  };
  useSession.subscribe((now, before) => {
    const [to, from] = [now.graphKey, before.graphKey];
    if (to === from || to === null || from === null) return;
    if (now.graphId === null || now.graphId !== before.graphId) return;
    const { [from]: entries, ...others } = graphs.getState();
    if (entries) keep({ ...others, [to]: entries });
  });
  return {
    now: () => graphs.getState()[key()] ?? NONE,
    set(entries) {
      const { [key()]: _before, ...others } = graphs.getState();
      keep(Object.keys(entries).length === 0 ? others : { ...others, [key()]: entries });
    },
    subscribe: (listener) => graphs.subscribe(listener),
  };
}

function read(item: string, isValue: (value: unknown) => boolean): Record<string, object> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(item) ?? "{}");
    const whole = ([, entries]: [string, unknown]) =>
      isObject(entries) && Object.values(entries).every(isValue);
    return Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(whole)) as Record<
      string,
      object
    >;
  } catch {
    return {};
  }
}
