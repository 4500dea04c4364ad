/** A keyboard shortcut as the platform writes it. `Mod` is Command on a Mac and Control elsewhere. */
const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform ?? "");

const MAC: Record<string, string> = { Mod: "⌘", Ctrl: "⌃", Alt: "⌥", Shift: "⇧", Enter: "↵", Backspace: "⌫" };
const OTHER: Record<string, string> = {
  Mod: "Ctrl",
  Enter: "↵",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};

/** The keys of `Mod+Shift+P`, each as it is written on the key. */
export function shortcutKeys(keys: string, mac = isMac): string[] {
  const parts = keys.endsWith("++") ? [...keys.slice(0, -2).split("+"), "+"] : keys.split("+");
  return parts.map(
    (key) => (mac ? MAC[key] : OTHER[key]) ?? OTHER[key] ?? (key.length === 1 ? key.toUpperCase() : key),
  );
}

const KEY =
  "h-4 min-w-4 rounded-[3px] border border-line-strong bg-surface-1 px-1 text-center font-sans text-2xs/3.5 text-text-2 in-data-[variant=primary]:border-transparent in-data-[variant=primary]:bg-[oklch(0_0_0/0.16)] in-data-[variant=primary]:text-inherit";

/** Nothing for a command without keys. */
export function Kbd({ keys }: { keys: string }) {
  if (keys === "") return null;
  return (
    <kbd className="inline-flex shrink-0 gap-0.5">
      {shortcutKeys(keys).map((key, index) => (
        <kbd key={index} className={KEY}>
          {key}
        </kbd>
      ))}
    </kbd>
  );
}
