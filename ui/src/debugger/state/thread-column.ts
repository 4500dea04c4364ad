/** The expression of each graph whose value every row of its threads shows: kept in this browser or window, as watches are. */
import { create } from "zustand";
import { renameKeyInText } from "../../document/key-edits";

const STORAGE = "superstep.threadColumn.";

/** By graph; null where nothing is kept. */
const useStore = create<Readonly<Record<string, string | null>>>(() => ({}));

function read(graph: string): string | null {
  try {
    return localStorage.getItem(STORAGE + graph);
  } catch {
    return null;
  }
}

export function threadColumn(graph: string): string | null {
  const known = useStore.getState()[graph];
  return known === undefined ? read(graph) : known;
}

/** Follows the column of a graph; null without one. */
export function useThreadColumn(graph: string | null): string | null {
  const known = useStore((store) => (graph === null ? null : store[graph]));
  return known === undefined ? read(graph ?? "") : known;
}

/** Shows the value of an expression in the rows of a graph's threads, in place of another; null ends that. */
export function showThreadColumn(graph: string, expression: string | null): void {
  useStore.setState({ [graph]: expression });
  try {
    if (expression === null) localStorage.removeItem(STORAGE + graph);
    else localStorage.setItem(STORAGE + graph, expression);
  } catch {
    // It is there until the window is closed.
  }
}

/** Follows a watch that becomes another expression, or goes. */
export function changeThreadColumn(graph: string, from: string, to: string): void {
  if (threadColumn(graph) === from) showThreadColumn(graph, to === "" ? null : to);
}

/** Follows a new name of a state key. */
export function renameInThreadColumn(graph: string, from: string, to: string): void {
  const column = threadColumn(graph);
  if (column !== null) changeThreadColumn(graph, column, renameKeyInText(column, from, to));
}

/** The expression of a state key's value. */
export const keyExpression = (key: string): string =>
  /^[A-Za-z_]\w*$/.test(key) ? `state.${key}` : `state[${JSON.stringify(key)}]`;

/** Forgets what the window knows, as a reload does; for tests. */
export const forgetThreadColumns = (): void => useStore.setState({}, true);
