/** Parts of the window by their test ids, for the focus that moves between them. */

const FIELDS =
  "input:not([type=hidden]):not([aria-hidden=true]), textarea, .cm-content, [role=combobox], [role=switch]";

export const partOf = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

/** Puts the focus on the first field of the first of these parts that has one, once it is shown. */
export function focusFirstField(ids: readonly string[], frames = 20): void {
  requestAnimationFrame(() => {
    for (const id of ids) {
      const field = partOf(id)?.querySelector<HTMLElement>(FIELDS);
      if (!field) continue;
      field.focus();
      return;
    }
    if (frames > 0) focusFirstField(ids, frames - 1);
  });
}
