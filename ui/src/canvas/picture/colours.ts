/** The tokens of one theme as sRGB colours, for files that know no CSS variables and no newer notation. */

export type Theme = "light" | "dark";

/** What a drawing of a graph is coloured with: a role, and what it is in terms of the tokens. */
const ROLES = {
  canvas: "var(--canvas)",
  surface: "var(--surface-2)",
  icon: "var(--surface-4)",
  line: "var(--line)",
  border: "var(--line-strong)",
  edge: "var(--edge)",
  edgeStrong: "var(--edge-strong)",
  text: "var(--text)",
  text2: "var(--text-2)",
  text3: "var(--text-3)",
  accentSoft: "var(--accent-soft)",
  accentText: "var(--accent-text)",
  hover: "var(--surface-3)",
  field: "var(--line-field)",
  running: "var(--running)",
  runningSoft: "var(--running-soft)",
  done: "var(--done)",
  doneSoft: "var(--done-soft)",
  doneBorder: "color-mix(in oklab, var(--done) 60%, var(--line-strong))",
  asking: "var(--asking)",
  askingSoft: "var(--asking-soft)",
  failed: "var(--failed)",
  failedSoft: "var(--failed-soft)",
  paused: "var(--paused)",
  pausedSoft: "var(--paused-soft)",
} as const;

export type Role = keyof typeof ROLES;
export type Colours = Readonly<Record<Role, string>>;

/** Reads a theme's colours, whichever theme the window has. */
export function coloursOf(theme: Theme): Colours {
  const probe = document.createElement("span");
  probe.dataset["theme"] = theme;
  probe.hidden = true;
  document.body.append(probe);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paper = canvas.getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(probe);
  const hex = (value: string): string => {
    probe.style.color = value;
    if (!paper) return style.color;
    paper.fillStyle = style.color;
    paper.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = paper.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  };
  const colours = Object.fromEntries(Object.entries(ROLES).map(([role, value]) => [role, hex(value)]));
  probe.remove();
  return colours as Colours;
}
