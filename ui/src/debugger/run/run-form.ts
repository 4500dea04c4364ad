/** The form for the input of a run: whether it is open, and what it says is missing. */
import { focusFirstField } from "../../lib/parts";
import { debugIds } from "../../lib/testIds";
import { useSession } from "../../state/session";

export const graphKey = (): string => useSession.getState().graphKey ?? "";

/** Opens the input form, at its first field. */
export function showRunForm(): void {
  const session = useSession.getState();
  session.setUse("debug");
  session.showTab("right", session.cursor.threadId === null ? "run" : "state", "debug");
  runForm.open();
  focusFirstField([debugIds.runForm]);
}

/** The form for the first input of a new thread. */
export function newThread(): void {
  useSession.getState().setCursor({ threadId: null, checkpointId: null });
  showRunForm();
}

/**
 * Whether the right panel shows the run form although a thread is selected. It is opened for what is selected then: of a thread
 * that is selected or begun after that, the panel shows how it stands.
 */
const formListeners = new Set<() => void>();
let openedFor: string | null | undefined;
export const runForm = {
  isOpen: () => openedFor !== undefined && openedFor === useSession.getState().cursor.threadId,
  subscribe: (listener: () => void) => {
    formListeners.add(listener);
    return () => formListeners.delete(listener);
  },
  open: () => setForm(useSession.getState().cursor.threadId),
  close: () => setForm(undefined),
  /** How often this graph was to run with nothing in the form since something was typed; the form says what is missing. */
  missing: () => (missing.graph === graphKey() ? missing.times : 0),
  /** It was to run with nothing in the form. */
  miss: () => setMissing(runForm.missing() + 1),
  /** Something was typed, or run. */
  filled: () => setMissing(0),
};
let missing = { graph: "", times: 0 };
function setMissing(times: number): void {
  if (times === 0 && missing.times === 0) return;
  missing = { graph: graphKey(), times };
  notifyFormChange();
}
function setForm(next: string | null | undefined): void {
  if (openedFor === next) return;
  openedFor = next;
  notifyFormChange();
}
function notifyFormChange(): void {
  for (const listener of formListeners) listener();
}
