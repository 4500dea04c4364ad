/** What is looked for and what was found: one search at a time, the newest counts, and it can be stopped. */
import { create } from "zustand";
import { flush } from "../../document/open-graph";
import type { Named } from "../../document/rename";
import type { TextFound } from "../../ipc/bindings/TextFound";
import type { TextQuery } from "../../ipc/bindings/TextQuery";
import { rpc, RpcProblem } from "../../ipc/client";
import { stopJob, withJob } from "../../state/jobs";
import { useSession } from "../../state/session";
import { NO_FILTERS, type Filters } from "./rows";

/** A name whose uses are listed, and the one that it had when the list was opened. */
export interface Listed extends Named {
  readonly was?: string;
}

/** What is listed when names come and go: a rename that is undone leads back, what has no use left is listed no more. */
export function stillListed(listed: Listed, has: (record: string) => boolean, uses: number): Listed | null {
  const { what, name, was } = listed;
  if (has(`${what}:${name}`)) return listed;
  if (was !== undefined && has(`${what}:${was}`)) return { what, name: was, was: name };
  return uses > 0 ? listed : null;
}

interface FindState {
  readonly query: TextQuery;
  /** In every graph of the folder. */
  readonly everywhere: boolean;
  readonly filters: Filters;
  readonly replacing: boolean;
  readonly replacement: string;
  readonly found: TextFound | null;
  readonly problem: RpcProblem | null;
  /** The search that runs. */
  readonly work: string | null;
  /** What the list of uses is of; the list takes the place of the matches. */
  readonly usesOf: Listed | null;
  /** The row that was gone to last. */
  readonly at: string | null;
  /** Counts the wishes to type a text. */
  readonly asked: number;
}

export const useFind = create<FindState>(() => ({
  query: { text: "", regex: false, wholeWord: false, matchCase: false },
  everywhere: false,
  filters: NO_FILTERS,
  replacing: false,
  replacement: "",
  found: null,
  problem: null,
  work: null,
  usesOf: null,
  at: null,
  asked: 0,
}));

let newest = 0;

/** Looks for what is asked for. */
export async function search(): Promise<void> {
  const { query, everywhere, replacing, replacement, work } = useFind.getState();
  const { graphId } = useSession.getState();
  const mine = (newest += 1);
  if (work !== null) stopJob(work);
  if (graphId === null || query.text === "") {
    useFind.setState({ found: null, problem: null, work: null });
    return;
  }
  try {
    // What was typed a moment ago is searched, too.
    await flush();
    const found = await withJob(
      (name) =>
        rpc("project.find", {
          graphId,
          query,
          everywhere,
          work: name,
          ...(replacing ? { replacement } : {}),
        }),
      (name) => {
        if (mine === newest) useFind.setState({ work: name });
      },
    );
    if (mine === newest) useFind.setState({ found, problem: null, work: null });
  } catch (thrown) {
    if (mine === newest) useFind.setState({ found: null, problem: RpcProblem.from(thrown), work: null });
  }
}

export function stopSearch(): void {
  const { work } = useFind.getState();
  if (work !== null) stopJob(work);
}

/** Shows the panel with the text to look for, and puts the cursor there. */
export function openFind(wanted: { everywhere?: boolean; replacing?: boolean }): void {
  const session = useSession.getState();
  if (session.use === "approve") session.setUse("design");
  session.showTab("bottom", "find", useSession.getState().use);
  const text = markedText();
  const state = useFind.getState();
  useFind.setState({
    usesOf: null,
    everywhere: wanted.everywhere ?? state.everywhere,
    replacing: wanted.replacing ?? state.replacing,
    asked: state.asked + 1,
    ...(text === null ? {} : { query: { ...state.query, text } }),
  });
}

/** A short text that is marked in a field: that is what is meant. */
function markedText(): string | null {
  const active = document.activeElement;
  const text =
    active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement
      ? active.value.slice(active.selectionStart ?? 0, active.selectionEnd ?? 0)
      : (document.getSelection()?.toString() ?? "");
  return text.trim() === "" || text.includes("\n") || text.length > 200 ? null : text;
}
