/** Parts of the window by their test ids, for the focus that moves between them. */

/** What is written in comes before what is chosen from. */
const FIELDS = [
  "input:not([type=hidden]):not([aria-hidden=true]), textarea, .cm-content",
  "[role=combobox], [role=switch]",
];

export const partOf = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

/** Puts the focus on what is found, once it is shown and takes it; after a second nothing is looked for any more. */
export function focusWhenShown(find: () => HTMLElement | null | undefined, frames = 60): void {
  requestAnimationFrame(() => {
    const found = find();
    found?.focus();
    // What is in a panel that unfolds cannot have the focus yet.
    const has = found && found === document.activeElement;
    if (!has && frames > 0) focusWhenShown(find, frames - 1);
  });
}

/** Puts the focus on the first field of the first of these parts that has one. */
export function focusFirstField(ids: readonly string[]): void {
  focusWhenShown(() => {
    for (const id of ids) {
      for (const fields of FIELDS) {
        const field = partOf(id)?.querySelector<HTMLElement>(fields);
        if (field) return field;
      }
    }
    return null;
  });
}
