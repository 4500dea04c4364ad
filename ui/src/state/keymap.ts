/**
 * Every keyboard shortcut, in one list, and what the user has changed of it. `Mod` is Ctrl, or Command on a Mac. The scope says where a shortcut works:
 * `app` everywhere, `window` wherever no text is being typed, `selection` where parts of the graph are selected (the canvas
 * and the outline), `canvas` when the canvas (or nothing) has the focus.
 */
export type Scope = "app" | "window" | "selection" | "canvas";

export interface Binding {
  readonly keys: readonly string[];
  readonly scope: Scope;
}

export const KEYMAP: Readonly<Record<string, Binding>> = {
  "palette.open": { keys: ["Mod+K"], scope: "app" },
  "help.shortcuts": { keys: ["?"], scope: "window" },
  "help.selected": { keys: ["F1"], scope: "app" },
  "graph.new": { keys: ["Mod+Alt+N"], scope: "app" },
  "graph.open": { keys: ["Mod+O"], scope: "app" },
  "graph.save": { keys: ["Mod+S"], scope: "app" },
  "graph.saveAs": { keys: ["Mod+Shift+S"], scope: "app" },
  "graph.home": { keys: ["Mod+Shift+H"], scope: "app" },
  "graph.closeTab": { keys: ["Mod+W", "Alt+W"], scope: "app" },
  "graph.nextTab": { keys: ["Mod+Tab", "Alt+PageDown"], scope: "app" },
  "graph.previousTab": { keys: ["Mod+Shift+Tab", "Alt+PageUp"], scope: "app" },
  "use.design": { keys: ["Alt+1"], scope: "app" },
  "use.debug": { keys: ["Alt+2"], scope: "app" },
  "use.approve": { keys: ["Alt+3"], scope: "app" },
  "settings.open": { keys: ["Mod+,"], scope: "app" },
  "tab.outline": { keys: ["Mod+Shift+O"], scope: "app" },
  "panel.left": { keys: ["Mod+B"], scope: "app" },
  "panel.right": { keys: ["Mod+Alt+B"], scope: "app" },
  "panel.bottom": { keys: ["Mod+J"], scope: "app" },
  "panel.bottomLarge": { keys: ["Mod+Shift+J"], scope: "app" },

  "find.open": { keys: ["Mod+F"], scope: "app" },
  "find.project": { keys: ["Mod+Alt+F"], scope: "app" },
  "find.replace": { keys: ["Mod+H"], scope: "app" },
  "find.next": { keys: ["F3"], scope: "app" },
  "find.previous": { keys: ["Shift+F3"], scope: "app" },
  "find.definition": { keys: ["F12"], scope: "app" },
  "find.uses": { keys: ["Shift+F12"], scope: "app" },

  "edit.undo": { keys: ["Mod+Z"], scope: "window" },
  "edit.redo": { keys: ["Mod+Shift+Z", "Mod+Y"], scope: "window" },
  "edit.selectAll": { keys: ["Mod+A"], scope: "selection" },
  "edit.copy": { keys: ["Mod+C"], scope: "selection" },
  "edit.cut": { keys: ["Mod+X"], scope: "selection" },
  "edit.paste": { keys: ["Mod+V"], scope: "selection" },
  "edit.pasteConnected": { keys: ["Mod+Shift+V"], scope: "selection" },
  "edit.duplicate": { keys: ["Mod+D"], scope: "selection" },
  "edit.delete": { keys: ["Delete", "Backspace"], scope: "selection" },
  "edit.deleteJoin": { keys: ["Mod+Delete", "Mod+Backspace"], scope: "selection" },
  "graph.openNested": { keys: ["Alt+ArrowRight"], scope: "window" },
  "graph.back": { keys: ["Alt+ArrowLeft"], scope: "window" },
  "graph.extract": { keys: ["Mod+G"], scope: "selection" },
  "edit.disable": { keys: ["D"], scope: "selection" },
  "edit.frame": { keys: ["Mod+Shift+F"], scope: "selection" },
  "view.foldFrame": { keys: ["F"], scope: "selection" },
  "view.expandNode": { keys: ["F"], scope: "selection" },
  "graph.inline": { keys: ["Mod+Alt+G"], scope: "selection" },
  "edit.rename": { keys: ["F2"], scope: "canvas" },
  "find.rename": { keys: ["F2"], scope: "app" },
  "edit.addNode": { keys: ["Tab", "N"], scope: "canvas" },
  "edit.escape": { keys: ["Escape"], scope: "selection" },

  "select.upstream": { keys: ["Alt+Shift+U"], scope: "selection" },
  "select.downstream": { keys: ["Alt+Shift+D"], scope: "selection" },
  "select.connected": { keys: ["Alt+Shift+C"], scope: "selection" },
  "wires.move.in": { keys: ["Alt+Shift+I"], scope: "selection" },
  "wires.move.out": { keys: ["Alt+Shift+O"], scope: "selection" },
  "align.left": { keys: ["Alt+Shift+ArrowLeft"], scope: "selection" },
  "align.right": { keys: ["Alt+Shift+ArrowRight"], scope: "selection" },
  "align.top": { keys: ["Alt+Shift+ArrowUp"], scope: "selection" },
  "align.bottom": { keys: ["Alt+Shift+ArrowDown"], scope: "selection" },
  "align.center": { keys: ["Alt+Shift+X"], scope: "selection" },
  "align.middle": { keys: ["Alt+Shift+Y"], scope: "selection" },
  "align.across": { keys: ["Alt+Shift+H"], scope: "selection" },
  "align.down": { keys: ["Alt+Shift+V"], scope: "selection" },

  "view.fit": { keys: ["Mod+1"], scope: "app" },
  "view.fitSelection": { keys: ["Mod+2"], scope: "app" },
  "view.actualSize": { keys: ["Mod+0"], scope: "app" },
  "view.zoomIn": { keys: ["Mod+=", "Mod++"], scope: "app" },
  "view.zoomOut": { keys: ["Mod+-"], scope: "app" },
  "window.zoomIn": { keys: ["Mod+Shift+PageUp"], scope: "app" },
  "window.zoomOut": { keys: ["Mod+Shift+PageDown"], scope: "app" },
  "window.actualSize": { keys: ["Mod+Shift+0"], scope: "app" },
  "view.layout": { keys: ["Mod+Shift+L"], scope: "app" },
  "view.hideWires": { keys: ["W"], scope: "canvas" },
  "view.hideNodeWires": { keys: ["Shift+W"], scope: "canvas" },
  "view.minimap": { keys: ["M"], scope: "canvas" },
  "walk.left": { keys: ["ArrowLeft"], scope: "canvas" },
  "walk.right": { keys: ["ArrowRight"], scope: "canvas" },
  "walk.up": { keys: ["ArrowUp"], scope: "canvas" },
  "walk.down": { keys: ["ArrowDown"], scope: "canvas" },
  "nudge.left": { keys: ["Shift+ArrowLeft", "Mod+Shift+ArrowLeft"], scope: "selection" },
  "nudge.right": { keys: ["Shift+ArrowRight", "Mod+Shift+ArrowRight"], scope: "selection" },
  "nudge.up": { keys: ["Shift+ArrowUp", "Mod+Shift+ArrowUp"], scope: "selection" },
  "nudge.down": { keys: ["Shift+ArrowDown", "Mod+Shift+ArrowDown"], scope: "selection" },

  "run.start": { keys: ["F5", "Mod+Enter"], scope: "app" },
  "run.pause": { keys: ["F6"], scope: "app" },
  "run.stop": { keys: ["Shift+F5"], scope: "app" },
  "run.replay": { keys: ["Mod+Shift+F5"], scope: "app" },
  "run.continue": { keys: ["F8"], scope: "app" },
  "run.step": { keys: ["F10"], scope: "app" },
  "run.stepInto": { keys: ["F11"], scope: "app" },
  "run.takeBack": { keys: ["U"], scope: "window" },
  "run.stepOut": { keys: ["Shift+F11"], scope: "app" },
  "query.open": { keys: ["Mod+Shift+F"], scope: "app" },
  "debug.breakpoint": { keys: ["F9"], scope: "window" },
  "debug.runTo": { keys: ["Mod+F10"], scope: "window" },
  "debug.backToNow": { keys: ["Mod+Shift+Enter"], scope: "app" },
  "debug.previousCheckpoint": { keys: ["J", "["], scope: "window" },
  "debug.nextCheckpoint": { keys: ["L", "]"], scope: "window" },
  "debug.play": { keys: ["K"], scope: "window" },
  "debug.previousVisit": { keys: ["{"], scope: "window" },
  "debug.nextVisit": { keys: ["}"], scope: "window" },
  "debug.previousWrite": { keys: [","], scope: "window" },
  "debug.nextWrite": { keys: ["."], scope: "window" },
  "debug.firstMoment": { keys: ["Home"], scope: "canvas" },
  "debug.lastMoment": { keys: ["End"], scope: "canvas" },
  "debug.back": { keys: ["Alt+ArrowLeft"], scope: "window" },
  "debug.forth": { keys: ["Alt+ArrowRight"], scope: "window" },
  "debug.copyLink": { keys: ["Mod+Shift+C"], scope: "window" },
};

const MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Keys by command, where the user has chosen others; none takes the shortcut away. */
export type OwnKeys = Readonly<Record<string, readonly string[]>>;

let own: OwnKeys = {};

export const setOwnKeys = (keys: OwnKeys): void => {
  own = keys;
};

/** The keys of a command now. */
export const keysOf = (id: string): readonly string[] => own[id] ?? KEYMAP[id]?.keys ?? [];

/** The first of them, to be shown beside the command; empty when it has none. */
export const shortcutOf = (id: string): string => keysOf(id)[0] ?? "";

/** Does the user's choice take the place of the shortcut that a command comes with? */
export const isOwnKeys = (id: string): boolean => own[id] !== undefined;

/** Every command that has keys now, in the order of the list. */
export const boundCommands = (): readonly string[] => [
  ...new Set([...Object.keys(KEYMAP), ...Object.keys(own)]),
];

/** What a field for text does with keys by itself. */
const OF_TEXT = new Set(["Mod+A", "Mod+C", "Mod+V", "Mod+X", "Mod+Y", "Mod+Z", "Mod+Shift+Z"]);

/** Where a shortcut works. One that writes or edits text never works in a field. */
export function scopeOf(id: string, keys: string): Scope {
  const scope = KEYMAP[id]?.scope ?? "window";
  if (scope !== "app" || KEYMAP[id]?.keys.includes(keys)) return scope;
  return /^(Mod|Alt)\+|^(Shift\+)?F\d+$/.test(keys) && !OF_TEXT.has(keys) ? "app" : "window";
}

/** The other commands that have these keys. */
export function sharing(id: string, keys: string): readonly string[] {
  return boundCommands().filter((other) => other !== id && keysOf(other).includes(keys));
}

/** Signs that need Shift on some keyboards are known by what they write. */
const SIGN = /^[+=,.?[\]{}-]$/;

function partsOf(keys: string): string[] {
  return keys.endsWith("++") ? [...keys.slice(0, -2).split("+"), "+"] : keys.split("+");
}

/** Does the event press this shortcut? */
export function matches(event: KeyboardEvent, keys: string): boolean {
  const parts = partsOf(keys);
  const key = parts.at(-1) ?? "";
  const wants = (name: string) => parts.slice(0, -1).includes(name);
  const mod = MAC ? event.metaKey : event.ctrlKey;
  const other = MAC ? event.ctrlKey : event.metaKey;
  if (mod !== wants("Mod") || other || event.altKey !== wants("Alt")) return false;
  if (!SIGN.test(key) && event.shiftKey !== wants("Shift")) return false;
  if (key === "Space") return event.key === " ";
  return (
    event.key === key ||
    event.key.toLowerCase() === key.toLowerCase() ||
    event.code === `Digit${key}` ||
    isLetterOf(event, key)
  );
}

/** A keyboard that writes no Latin letters, or a Mac with Alt: the key is known by its place. */
const isLetterOf = (event: KeyboardEvent, key: string): boolean =>
  /^[A-Z]$/.test(key) && event.code === `Key${key}` && !/^[ -~]+$/.test(event.key);

const MODIFIERS = new Set([
  "Control",
  "Shift",
  "Alt",
  "Meta",
  "AltGraph",
  "CapsLock",
  "Dead",
  "Process",
  "Unidentified",
]);

/** The shortcut that an event presses, as `Mod+Shift+P`; null for modifiers alone and for what is no shortcut. */
export function shortcutOfEvent(event: KeyboardEvent): string | null {
  if (MODIFIERS.has(event.key) || (MAC ? event.ctrlKey : event.metaKey)) return null;
  const [, digit] = /^Digit(\d)$/.exec(event.code) ?? [];
  const [, letter] = /^Key([A-Z])$/.exec(event.code) ?? [];
  let key = event.key === " " ? "Space" : event.key;
  if (key.length === 1) {
    if (digit !== undefined && !SIGN.test(key)) key = digit;
    else if (letter !== undefined && !/^[ -~]$/.test(key)) key = letter;
    else key = key.toUpperCase();
  }
  return [
    ...((MAC ? event.metaKey : event.ctrlKey) ? ["Mod"] : []),
    ...(event.altKey ? ["Alt"] : []),
    ...(event.shiftKey && !SIGN.test(key) ? ["Shift"] : []),
    key,
  ].join("+");
}

/** Keys that buttons and lists need: alone they are no shortcut. */
export const isTaken = (keys: string): boolean =>
  ["Enter", "Space", "Shift+Enter", "Shift+Space", "Shift+Tab", "Escape"].includes(keys);
