/** Which part of Settings can mend a problem, by the code of a diagnostic or the class of a failure. */
import { t } from "../lib/texts";
import { showSettings, type SettingsTab } from "./settings";

export interface Mend {
  readonly label: string;
  run(): void;
}

const TABS: Readonly<Record<string, SettingsTab>> = {
  "unknown-model": "connections",
  ModelSetupError: "connections",
  ModelAuthError: "connections",
  ModelConnectionError: "connections",
  "python-missing": "general",
};

/** What may be done in Settings about it; nothing for most problems. */
export function mendOf(code: string): Mend | undefined {
  const tab = TABS[code];
  return (
    tab && {
      label: t(tab === "connections" ? "settings.mend.connections" : "settings.mend.general"),
      run: () => showSettings(tab),
    }
  );
}

/** The same for a task's error, which is written `Class('message')`. */
export const mendOfError = (error: string): Mend | undefined => mendOf(/^\w+/.exec(error.trim())?.[0] ?? "");
