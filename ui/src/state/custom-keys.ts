/**
 * The shortcuts that the user has changed: kept with the settings, so that every window of the data folder has them. They
 * count at once; what shows shortcuts is mounted again when the settings are closed, as for a language.
 */
import { create } from "zustand";
import { keysOf, setOwnKeys, sharing, type OwnKeys } from "./keymap";
import { useSession } from "./session";
import { useSettingsAsked } from "./settings";

/** Counts up when shortcuts on screen have to be rendered again. */
export const useShownKeys = create<{ readonly turn: number }>(() => ({ turn: 0 }));

const NONE: OwnKeys = {};

export const useOwnKeys = (): OwnKeys => useSession(({ appInfo }) => appInfo?.settings.shortcuts ?? NONE);

const ownKeys = (): OwnKeys => useSession.getState().appInfo?.settings.shortcuts ?? NONE;

function keep(keys: OwnKeys): void {
  const shortcuts = Object.fromEntries(Object.entries(keys).map(([id, list]) => [id, [...list]]));
  void useSession.getState().setSettings({ shortcuts });
}

/** Gives a command these keys, and takes them from every other one. */
export function setKeys(id: string, keys: readonly string[]): void {
  const next: Record<string, readonly string[]> = { ...ownKeys(), [id]: keys };
  for (const each of keys)
    for (const other of sharing(id, each))
      next[other] = (next[other] ?? keysOf(other)).filter((key) => key !== each);
  keep(next);
}

/** The command has the keys again that it comes with. */
export function resetKeys(id: string): void {
  const { [id]: _own, ...others } = ownKeys();
  keep(others);
}

export const resetAllKeys = (): void => keep(NONE);

/** Follows the settings from the first moment on. */
export function followKeys(): void {
  let shown = "{}";
  const show = () => {
    const text = JSON.stringify(ownKeys());
    if (text === shown || useSettingsAsked.getState().tab !== null) return;
    shown = text;
    useShownKeys.setState(({ turn }) => ({ turn: turn + 1 }));
  };
  useSession.subscribe((now, before) => {
    if (now.appInfo?.settings.shortcuts === before.appInfo?.settings.shortcuts) return;
    setOwnKeys(ownKeys());
    show();
  });
  useSettingsAsked.subscribe(show);
}
