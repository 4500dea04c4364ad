/** Notes from places that know no component: problems with their remedy, shown by whatever shows toasts. */
import { closeToast, toast, toastProblem } from "../components/Toast";

export interface Note {
  readonly tone: "info" | "done" | "warning" | "problem";
  readonly text: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** It stays until it is closed. */
  readonly stays?: boolean;
}

const TONES = { info: "neutral", done: "done", warning: "neutral", problem: "failed" } as const;

/** Shows a note, and answers with what takes it away again. */
export function showToast(note: Note): () => void {
  const id = toast({
    title: note.text,
    text: note.detail,
    tone: TONES[note.tone],
    ...(note.action ? { action: note.action } : {}),
    ...(note.stays === true ? { timeout: 0 } : {}),
  });
  return () => closeToast(id);
}

/** Shows any thrown thing: what happened and what to do. Aborted requests are nobody's problem. */
export const showProblem = (thrown: unknown): void => toastProblem(thrown);
