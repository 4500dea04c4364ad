/**
 * A language for tests: English with accents and 40 % longer, as other languages are. It shows where a text does not go through
 * the catalogue, and where the window has no room for a longer one.
 */
import { english, type Catalogue, type TextKey } from "../texts";
import { commandNames } from "./command-names";

const PLAIN = "aceilnorsuyAEINOU";
const ACCENTED = "àçéîļñöŕşûýÅÉÎÑÖÛ";
const LONGER = 0.4;
const PADDING = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen ";

/** The text with accents and padding; places such as `{name}` and code stay as they are. */
function accented(text: string): string {
  const plain = text.replaceAll(/\{\w+\}|`[^`]*`/g, "");
  const more = Math.ceil(plain.length * LONGER);
  const words = text.replaceAll(/(\{\w+\}|`[^`]*`)|[a-zA-Z]/g, (letter, kept?: string) =>
    kept === undefined ? (ACCENTED[PLAIN.indexOf(letter)] ?? letter) : kept,
  );
  const padding = PADDING.repeat(Math.ceil(more / PADDING.length))
    .slice(0, more)
    .trim();
  return padding === "" ? words : `${words} ${padding}`;
}

export const pseudo: Catalogue = {
  texts: Object.fromEntries(Object.entries(english).map(([key, text]) => [key, accented(text)])) as Record<
    TextKey,
    string
  >,
  commandNames,
  kindAliases: {},
  backends: {},
  rust: accented,
};
