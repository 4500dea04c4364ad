/** Where the focus goes when a dialog closes: to what had it before the dialog opened. */
import { useCallback, useState } from "react";

/**
 * Remembers what has the focus when a dialog opens, and answers it for the popup's `finalFocus`. The popup itself looks
 * only after a field in it has taken the focus by `autoFocus`, and returns it to that field, which is gone then.
 */
export function useFocusBefore(open: boolean): () => HTMLElement | true {
  const [state, setState] = useState(() => ({ open, before: open ? focusNow() : null }));
  if (state.open !== open) setState({ open, before: open ? focusNow() : state.before });
  const { before } = state;
  // What is gone or hidden, as an entry of a menu is, leaves it to the popup.
  return useCallback(() => (before?.isConnected === true && isShown(before) ? before : true), [before]);
}

const focusNow = (): HTMLElement | null => {
  const at = document.activeElement;
  return at instanceof HTMLElement && at !== document.body ? at : null;
};

/** Is it drawn? Without a layout, as in unit tests, everything is. */
const isShown = (element: HTMLElement): boolean =>
  !("checkVisibility" in element) || element.checkVisibility({ visibilityProperty: true });
