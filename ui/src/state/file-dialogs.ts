/** The questions about files that may be asked from anywhere; the dialogs themselves are in `FileDialogs.tsx`. */
import { create } from "zustand";

/** Graphs are JSON, exported threads are lines of JSON. */
export type FileEnding = "json" | "jsonl" | "csv";

export type FileQuestion =
  | { kind: "open"; ending: FileEnding; answer(path: string | null): void }
  | { kind: "save"; ending: FileEnding; suggested: string; answer(path: string | null): void }
  | { kind: "close"; name: string; answer(what: Closing | null): void }
  | { kind: "elsewhere"; records: string; answer(side: Side | null): void };

/** What becomes of changes that are not in the file when a graph is closed. */
export type Closing = "save" | "keep" | "discard";

/** Whose edit stays where this window and another one changed the same. */
export type Side = "mine" | "theirs";

export const useFileQuestion = create<{ question: FileQuestion | null }>(() => ({ question: null }));

/** One question at a time: a new one answers the old one with "no". */
function ask(question: FileQuestion): void {
  useFileQuestion.getState().question?.answer(null);
  useFileQuestion.setState({ question });
}

/** Lets a person choose a file; null when they changed their mind. */
export function openFileDialog(ending: FileEnding = "json"): Promise<string | null> {
  return new Promise((answer) => ask({ kind: "open", ending, answer }));
}

/** Lets a person choose where to save. A path of a file that is there has been confirmed. */
export function saveFileDialog(suggested: string, ending: FileEnding = "json"): Promise<string | null> {
  return new Promise((answer) => ask({ kind: "save", ending, suggested, answer }));
}

/** Asks what becomes of the changes that are not in the file; null when the graph stays open. */
export function askAboutClosing(name: string): Promise<Closing | null> {
  return new Promise((answer) => ask({ kind: "close", name, answer }));
}

/** Asks whose edits of these records stay. Without an answer nothing of the other window is overwritten. */
export function askAboutElsewhere(records: string): Promise<Side> {
  return new Promise((answer) =>
    ask({ kind: "elsewhere", records, answer: (side) => answer(side ?? "theirs") }),
  );
}
