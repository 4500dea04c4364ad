/** What screen readers are told of things that only show themselves; the window has one place that says it. */
import { create } from "zustand";

export const useAnnounced = create<{ readonly text: string }>(() => ({ text: "" }));

/** Says a sentence. The same one twice is said twice: a sign that is not read tells them apart. */
export function announce(text: string): void {
  useAnnounced.setState((before) => ({ text: before.text === text ? `${text}\u00a0` : text }));
}
