/** Notes from places that know no component: problems with their remedy, shown by whatever shows toasts. */
import { toast, toastProblem } from "../components/Toast";

export interface Note {
  readonly tone: "info" | "done" | "warning" | "problem";
  readonly text: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const TONES = { info: "neutral", done: "done", warning: "neutral", problem: "failed" } as const;

export function showToast(note: Note): void {
  toast({
    title: note.text,
    text: note.detail,
    tone: TONES[note.tone],
    ...(note.action ? { action: note.action } : {}),
  });
}

/** Shows any thrown thing: what happened and what to do. Aborted requests are nobody's problem. */
export const showProblem = (thrown: unknown): void => toastProblem(thrown);
