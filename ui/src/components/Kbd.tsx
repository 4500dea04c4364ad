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
  return keys
    .split("+")
    .map((key) => (key === "" ? "+" : key))
    .map(
      (key) => (mac ? MAC[key] : OTHER[key]) ?? OTHER[key] ?? (key.length === 1 ? key.toUpperCase() : key),
    );
}

export function Kbd({ keys }: { keys: string }) {
  return (
    <kbd className="ss-kbd">
      {shortcutKeys(keys).map((key, index) => (
        <kbd key={index}>{key}</kbd>
      ))}
    </kbd>
  );
}
