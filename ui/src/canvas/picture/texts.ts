/** Texts of a drawing: which fonts, how wide, where they are cut, and how they are written in XML. */

const SANS = '"Inter Variable", Inter, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const MONO =
  '"JetBrains Mono Variable", "JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace';

/** The looks of texts, as the CSS of the canvas has them. */
const FONTS = {
  name: { weight: 600, size: 13, family: SANS },
  end: { weight: 600, size: 12, family: SANS },
  sub: { weight: 400, size: 11, family: SANS },
  count: { weight: 600, size: 11, family: SANS },
  code: { weight: 400, size: 10.5, family: MONO },
  label: { weight: 400, size: 11, family: MONO },
} as const;

export type Look = keyof typeof FONTS;

/** Answers the width of a text in pixels. */
export type Measure = (text: string, look: Look) => number;

const fontOf = (look: Look) => {
  const { weight, size, family } = FONTS[look];
  return `${weight} ${size}px ${family}`;
};

/** The rules of the looks, for the style sheet of the drawing. */
export function fontRules(): string {
  return (Object.keys(FONTS) as Look[]).map((look) => `.${look}{font:${fontOf(look)}}`).join("");
}

/** Measures with the fonts of the window; by the count of letters where there is no drawing. */
export function windowMeasure(): Measure {
  const paper = document.createElement("canvas").getContext("2d");
  if (!paper) return roughMeasure;
  let set: Look | null = null;
  return (text, look) => {
    // Setting a font is the dear part of measuring.
    if (set !== look) paper.font = fontOf(look);
    set = look;
    return paper.measureText(text).width;
  };
}

export const roughMeasure: Measure = (text, look) => {
  const { size, family } = FONTS[look];
  return text.length * size * (family === MONO ? 0.6 : 0.56);
};

/** The text as far as it fits, with a sign where it is cut. */
export function cut(text: string, width: number, look: Look, measure: Measure): string {
  const whole = text.replace(/\s+/g, " ").trim();
  // No letter of these fonts is wider than its height.
  if (whole.length * FONTS[look].size <= width || measure(whole, look) <= width) return whole;
  const letters = [...whole];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`, look) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("").trimEnd()}…`;
}

/** The text in lines that fit, not more than `most`; the last one is cut when there was more. */
export function wrapped(text: string, width: number, look: Look, measure: Measure, most: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.trim().split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/).filter((each) => each !== "")) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (line === "" || measure(longer, look) <= width) line = longer;
      else {
        lines.push(cut(line, width, look, measure));
        line = word;
      }
    }
    lines.push(cut(line, width, look, measure));
  }
  if (lines.length <= most || most === 0) return lines.slice(0, most);
  return [...lines.slice(0, most - 1), cut(`${lines[most - 1]}…`, width, look, measure)];
}

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** The text as content or attribute of XML, which has no place for control characters and halves of pairs. */
export function escaped(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n\r]|[\p{Cs}\ufffe\uffff]/gu, "\ufffd")
    .replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);
}
