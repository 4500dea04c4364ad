/**
 * Keys of an input method. While a person composes a word, Enter, Escape, Space and letters belong to the input method: they
 * take a candidate or drop it, and mean nothing to the window. They are kept from every handler here, once, so that no
 * field has to look. The code editor looks itself, and has to see them.
 */

/** True for a key that an input method takes. WebKit ends the composition before the key that ended it: it has the code 229. */
const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Keeps the keys of input methods from everything below `target`; answers how to stop. */
export function keepComposing(target: Window): () => void {
  const onKey = (event: KeyboardEvent) => {
    const isEditor = event.target instanceof Element && event.target.closest(".cm-editor") !== null;
    if (isComposing(event) && !isEditor) event.stopImmediatePropagation();
  };
  target.addEventListener("keydown", onKey, true);
  return () => target.removeEventListener("keydown", onKey, true);
}
