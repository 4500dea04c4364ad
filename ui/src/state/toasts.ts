/** Short notes at the edge of the window: problems with their remedy, and things done that can be taken back. */
import { create } from "zustand";
import { RpcProblem } from "../ipc/problem";

export interface Toast {
  readonly id: number;
  readonly tone: "info" | "done" | "warning" | "problem";
  readonly text: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

let nextId = 1;

export const useToasts = create<{ readonly toasts: readonly Toast[] }>(() => ({ toasts: [] }));

/** Shows a note; the same words are not shown twice at a time. */
export function showToast(toast: Omit<Toast, "id">): number {
  const { toasts } = useToasts.getState();
  const twin = toasts.find((each) => each.text === toast.text && each.detail === toast.detail);
  if (twin) return twin.id;
  const id = nextId++;
  useToasts.setState({ toasts: [...toasts, { ...toast, id }].slice(-4) });
  return id;
}

/** Shows any thrown thing: what happened and what to do. Aborted requests are nobody's problem. */
export function showProblem(thrown: unknown): void {
  if (thrown instanceof DOMException && thrown.name === "AbortError") return;
  const problem = RpcProblem.from(thrown);
  showToast({ tone: "problem", text: problem.message, ...(problem.remedy ? { detail: problem.remedy } : {}) });
}

export function dismissToast(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}
