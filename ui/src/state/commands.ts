/**
 * Everything that can be done by name: menus, buttons, the command palette and the keyboard all run the same entries.
 * Shortcuts come from `keymap.ts`.
 */
import { useSyncExternalStore } from "react";
import { boundCommands, keysOf, matches, scopeOf, type Scope } from "./keymap";

export interface Command {
  readonly id: string;
  readonly title: string;
  /** A heading of the command palette. */
  readonly group: string;
  readonly run: () => void;
  readonly enabled?: () => boolean;
  /** Not listed in the palette (arrow keys and the like). */
  readonly hidden?: boolean;
  /** Something is lost by it: the palette lists it last and never chooses it by itself. */
  readonly destructive?: boolean;
}

let commands: readonly Command[] = [];
const listeners = new Set<() => void>();

function changed(next: readonly Command[]): void {
  commands = next;
  for (const listener of listeners) listener();
}

/** Adds a command; a later one with the same id takes its place until it is removed. Answers how to remove it. */
export function registerCommand(command: Command): () => void {
  // One registration is not another of the same object.
  const entry: Command = { ...command };
  changed([...commands, entry]);
  return () => changed(commands.filter((each) => each !== entry));
}

export function registerCommands(list: readonly Command[]): () => void {
  const undo = list.map(registerCommand);
  return () => undo.forEach((each) => each());
}

function find(id: string): Command | undefined {
  return commands.findLast((command) => command.id === id);
}

/** When commands that are yet to come are there: asks for them. Nothing when all are there. */
type Coming = () => Promise<void> | null;

const NONE: Coming = () => null;
let coming = NONE;

/** Sets where commands come from that are not there at the start. */
export function followComing(next: Coming): () => void {
  coming = next;
  return () => {
    coming = NONE;
  };
}

/** Asks for commands that are yet to come. Nothing when all are there. */
export const commandsToCome = (): Promise<void> | null => coming();

/** Runs the first of commands that are not there, when they have come. Answers whether they are awaited. */
function runLater(ids: readonly string[]): boolean {
  const come = coming();
  if (come === null) return false;
  void come.then(() => ids.some(runCommand), console.error);
  return true;
}

/** Runs a command by its id. Answers false when there is none or it cannot be run now. */
export function runCommand(id: string): boolean {
  const command = find(id);
  if (!command) return runLater([id]);
  if (command.enabled?.() === false) return false;
  command.run();
  return true;
}

/** All commands, the last registration of each id. */
export function allCommands(): readonly Command[] {
  return commands.filter(
    (command, index) => commands.findLastIndex((each) => each.id === command.id) === index,
  );
}

/** `allCommands` as they come and go. */
export function useCommands(): readonly Command[] {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => commands,
  );
  return allCommands();
}

const TYPING =
  "input:not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable=true]";

const POPUP = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox]";

/** What has the focus, or had it until it was removed, beside the canvas. */
let held: Element | null = null;

/** Where the focus was before it came into a popup, and where it goes back to. */
let opener: Element | null = null;

const popupOf = (target: EventTarget | null): Element | null =>
  target instanceof Element ? target.closest(POPUP) : null;

/** Follows what has the focus: a key goes on from a place that was removed, and is not for the canvas then. */
export function followFocus(): () => void {
  const take = ({ target, relatedTarget }: FocusEvent) => {
    const beside = target instanceof Element && document.querySelector("[data-canvas]") !== null;
    // A popup that is gone leads back to the canvas.
    held = beside && target.closest(`[data-canvas], ${POPUP}`) === null ? target : null;
    const popup = popupOf(target);
    if (popup !== null && popup !== popupOf(relatedTarget))
      opener = relatedTarget instanceof Element ? relatedTarget : document.body;
  };
  // Where it was given up by hand, what had it is still there.
  const leave = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null) return;
    queueMicrotask(() => {
      if (target === held && held?.isConnected === true) held = null;
    });
  };
  document.addEventListener("focusin", take);
  document.addEventListener("focusout", leave);
  return () => {
    held = null;
    opener = null;
    document.removeEventListener("focusin", take);
    document.removeEventListener("focusout", leave);
  };
}

const isLost = (): boolean => held !== null && !held.isConnected;

/** Where the key was pressed decides which shortcuts count. */
function scopesAt(target: EventTarget | null): ReadonlySet<Scope> {
  if (!(target instanceof Element)) return new Set<Scope>(["app", "window", "selection", "canvas"]);
  // One that is closing, and has the focus until it has gone, takes no keys any more, nor do its fields: they count where
  // the focus goes back to.
  if (popupOf(target)?.closest("[data-closed]"))
    return opener?.isConnected === true ? scopesOf(opener) : new Set<Scope>(["app", "window"]);
  return scopesOf(target);
}

function scopesOf(target: Element): ReadonlySet<Scope> {
  if (target.closest(`${TYPING}, ${POPUP}`)) return new Set<Scope>(["app"]);
  const free = target === document.body || target.closest("[data-canvas]") !== null;
  if (free && target === document.body && isLost()) return new Set<Scope>(["app", "window", "selection"]);
  if (free) return new Set<Scope>(["app", "window", "selection", "canvas"]);
  const selects = target.closest("[data-selects]") !== null;
  return new Set<Scope>(selects ? ["app", "window", "selection"] : ["app", "window"]);
}

/** Gives a key press to the command it belongs to. Answers whether one took it. */
export function dispatchKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented) return false;
  const scopes = scopesAt(event.target);
  const bound = boundCommands().filter((id) =>
    keysOf(id).some((keys) => scopes.has(scopeOf(id, keys)) && matches(event, keys)),
  );
  // What cannot be run now is not run later either: only what is not there yet.
  const absent = bound.filter((id) => find(id) === undefined);
  const taken = bound.some((id) => !absent.includes(id) && runCommand(id));
  if (!taken && !(absent.length > 0 && runLater(absent))) return false;
  event.preventDefault();
  return true;
}
