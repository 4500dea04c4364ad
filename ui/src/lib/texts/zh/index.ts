/**
 * Chinese. A chunk of its own with its font: both are loaded when the interface speaks it. Every file of the English
 * catalogue has one here of the same name and keys; `kinds` and `problems` say what the workbench says, by its English texts.
 */
import "@fontsource-variable/noto-sans-sc/wght.css";
import type { Catalogue } from "../../texts";

type Words = Readonly<Record<string, string>>;

const files = import.meta.glob<Readonly<Record<string, Words>>>(
  ["./*.ts", "!./index.ts", "!./command-names.ts", "!./kinds.ts", "!./problems.ts"],
  { eager: true },
);
const names = import.meta.glob<{ commandNames: Readonly<Record<string, readonly string[]>> }>(
  "./command-names.ts",
  { eager: true },
);
const workbench = import.meta.glob<Readonly<Record<string, Words>>>(["./kinds.ts", "./problems.ts"], {
  eager: true,
});

/** The entries of all files. */
const merged = (from: Readonly<Record<string, Readonly<Record<string, Words>>>>): Words =>
  Object.assign({}, ...Object.values(from).flatMap((file) => Object.values(file)));

// Words that a search finds kinds by are no texts.
const rust: Words = Object.assign(
  {},
  ...Object.values(workbench).flatMap(({ kindAliases: _aliases, ...file }) => Object.values(file)),
);

export const zh: Catalogue = {
  texts: merged(files),
  commandNames: Object.values(names)[0]?.commandNames ?? {},
  rust: (english) => rust[english],
};
