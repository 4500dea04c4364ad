/**
 * A long press of a finger or a pen opens what the other button of a mouse opens. Some systems do that themselves, WebKit's and a
 * desktop's Chromium do not: the event is made here unless it has come.
 */

/** Pointers that press without another button at hand. */
const PRESSES = new Set(["touch", "pen"]);

/** How long a finger rests before it counts. */
const HELD_MS = 500;
/** How long after it the browser's own click may come. */
const AFTER_MS = 100;
/** How far it may stray meanwhile. */
const STRAY = 10;

/** Fields have a use of their own for a finger that rests: they mark words. */
const marksWords = (target: Element) =>
  target.closest("input, textarea, [contenteditable=true], .cm-editor") !== null;

/** From the menu until the next press: what else the finger would do means nothing. */
let opened = false;

/** Has the press that ends now opened a menu? For what counts presses without a click. */
export const wasLongPress = (): boolean => opened;

export function followLongPresses(): () => void {
  let fingers = 0;
  let held: { timer: ReturnType<typeof setTimeout>; x: number; y: number } | null = null;
  const forget = () => {
    if (held !== null) clearTimeout(held.timer);
    held = null;
  };
  const onDown = (event: PointerEvent) => {
    opened = false;
    if (!PRESSES.has(event.pointerType)) return;
    fingers += 1;
    forget();
    const { target, clientX: x, clientY: y } = event;
    // The button on the side of a pen opens the menu at once, by the browser.
    if (fingers > 1 || event.button > 0 || !(target instanceof Element) || marksWords(target)) return;
    const open = () => {
      held = null;
      opened = target.isConnected;
      const made = { bubbles: true, cancelable: true, button: 2, clientX: x, clientY: y };
      target.dispatchEvent(new MouseEvent("contextmenu", made));
    };
    held = { timer: setTimeout(open, HELD_MS), x, y };
  };
  const onMove = (event: PointerEvent) => {
    if (held !== null && Math.hypot(event.clientX - held.x, event.clientY - held.y) > STRAY) forget();
  };
  const onEnd = (event: PointerEvent) => {
    if (!PRESSES.has(event.pointerType)) return;
    fingers = Math.max(0, fingers - 1);
    forget();
    // The click of this press comes at once; later ones are meant.
    if (opened) setTimeout(() => (opened = false), AFTER_MS);
  };
  const swallow = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  const onMenu = (event: MouseEvent) => {
    if (!event.isTrusted) return;
    forget();
    if (opened) swallow(event);
  };
  const onMouse = (event: MouseEvent) => {
    if (opened && event.isTrusted) swallow(event);
  };
  const listeners = [
    ["pointerdown", onDown],
    ["pointermove", onMove],
    ["pointerup", onEnd],
    ["pointercancel", onEnd],
    ["contextmenu", onMenu],
    // What a browser makes of the end of a press.
    ["mousedown", onMouse],
    ["mouseup", onMouse],
    ["click", onMouse],
  ] as const;
  for (const [name, listener] of listeners)
    document.addEventListener(name, listener as (event: Event) => void, { capture: true });
  return () => {
    forget();
    for (const [name, listener] of listeners)
      document.removeEventListener(name, listener as (event: Event) => void, { capture: true });
  };
}
