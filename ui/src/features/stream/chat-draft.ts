/**
 * What is being written to each graph below its messages. Kept here and not in the field: the interface is mounted again
 * with another language, and the panel with another tab.
 */
import { create } from "zustand";

/** An earlier message that is said otherwise. */
interface Edited {
  readonly threadId: string;
  /** The moment at which it was given. */
  readonly at: string;
  /** What was in the field before. */
  readonly before: string;
}

export interface ChatDraft {
  readonly text: string;
  readonly edited: Edited | null;
}

const EMPTY: ChatDraft = { text: "", edited: null };

const useDrafts = create<{ readonly byGraph: Readonly<Record<string, ChatDraft>> }>(() => ({ byGraph: {} }));

const draftOf = (graph: string): ChatDraft => useDrafts.getState().byGraph[graph] ?? EMPTY;

export const useChatDraft = (graph: string): ChatDraft => useDrafts(({ byGraph }) => byGraph[graph] ?? EMPTY);

export function setChatDraft(graph: string, change: Partial<ChatDraft>): void {
  const next = { ...draftOf(graph), ...change };
  useDrafts.setState(({ byGraph }) => ({ byGraph: { ...byGraph, [graph]: next } }));
}

/** Takes an earlier message into the field. What was typed there comes back when the edit is given up. */
export function editMessage(graph: string, threadId: string, at: string, text: string): void {
  const { text: typed, edited } = draftOf(graph);
  setChatDraft(graph, { text, edited: { threadId, at, before: edited?.before ?? typed } });
}

/** Ends an edit that was sent or given up: what had been typed before it stands in the field again, otherwise nothing. */
export function endEdit(graph: string): void {
  setChatDraft(graph, { text: draftOf(graph).edited?.before ?? "", edited: null });
}
