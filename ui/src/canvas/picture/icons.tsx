/** The glyphs of kinds and states as symbols of an SVG file, taken from the components that draw them in the window. */
import type { ReactNode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { KindIcon } from "../../components/KindIcon";
import { MARKS } from "../NodeCard";

const known = new Map<string, string>();

/** The shapes of a glyph in a square of 24. */
function shapes(key: string, icon: ReactNode): string {
  let found = known.get(key);
  if (found === undefined) {
    const place = document.createElement("div");
    const root = createRoot(place);
    flushSync(() => root.render(icon));
    found = place.querySelector("svg")?.innerHTML ?? "";
    root.unmount();
    known.set(key, found);
  }
  return found;
}

const symbol = (id: string, width: number, inside: string) =>
  `<symbol id="${id}" viewBox="0 0 24 24"><g fill="none" stroke="currentColor" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round">${inside}</g></symbol>`;

/** The id of a glyph's symbol; a name may hold anything. */
export const iconId = (name: string) => `icon-${name.replace(/[^\w-]/g, "_")}`;
export const markId = (state: string) => `state-${state}`;

/** The symbols for these glyphs of kinds and for the marks of these states. */
export function symbols(icons: Iterable<string>, states: Iterable<string>): string {
  const kinds = [...icons].map((name) =>
    symbol(iconId(name), 2, shapes(iconId(name), <KindIcon icon={name} size={24} />)),
  );
  const marks = [...states].flatMap((state) => {
    if (!(state in MARKS)) return [];
    const Mark = MARKS[state as keyof typeof MARKS];
    return symbol(markId(state), 2.5, shapes(markId(state), <Mark />));
  });
  return [...kinds, ...marks].join("");
}
