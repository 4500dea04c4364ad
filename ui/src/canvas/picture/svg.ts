/**
 * A graph as an SVG file: every card, port, line and label where the scene has it, whatever is in view. Made of the
 * scene's geometry and a theme's colours alone, so the size of the graph and the state of the window do not matter.
 */
import { IDLE_EDGE, type NodeOverlay, type Overlay, wayOverlay } from "../../debugger/overlay/overlay-model";
import { disabledOf } from "../../document/disabled";
import { allPorts } from "../../document/ports";
import { END, nodeOf, NOTE, START } from "../../document/types";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { duration } from "../../lib/intl";
import { t } from "../../lib/texts";
import {
  curve,
  detour,
  HEAD,
  isBack,
  jumpLane,
  LABEL_HEIGHT,
  portOf,
  portRowY,
  portsHeight,
  type Rect,
} from "../geometry";
import { COUNT, countAt, type LineShape, shapeOf } from "../line-path";
import { type Note, type NoteColour, noteOf, plainText } from "../notes";
import { type Scene } from "../window";
import { headPath, type Line, meaningOf, shownLabel, startOf } from "../lines";
import type { Colours, Role } from "./colours";
import { cut, escaped, fontRules, type Look, type Measure, wrapped } from "./texts";

export interface Drawn {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

interface Drawing {
  readonly scene: Scene;
  readonly kindOf: (kind: string) => NodeKind | undefined;
  /** What a run has done; null for the graph alone. */
  readonly overlay: Overlay | null;
  readonly colours: Colours;
  readonly measure: Measure;
  /** The symbols of glyphs and marks, and the ids that they are used by. */
  readonly glyphs: {
    symbols(icons: Iterable<string>, states: Iterable<string>): string;
    iconId(icon: string): string;
    markId(state: string): string;
  };
}

const PAD = 32;
const ROW = 18;

/** Draws a graph; null when there is nothing in it. */
export function drawGraph(drawing: Drawing): Drawn | null {
  const { scene, colours, glyphs } = drawing;
  const extent = scene.extent();
  if (extent === null) return null;
  const x = Math.floor(extent.x - PAD);
  const y = Math.floor(extent.y - PAD);
  const width = Math.ceil(extent.width + 2 * PAD);
  const height = Math.ceil(extent.height + 2 * PAD);
  const pen = new Pen(drawing);
  for (const [name, rect] of scene.rects()) {
    const note = noteOf(scene.doc.get(`node:${name}`));
    if (note?.frame) pen.frame(name, rect, note);
  }
  for (const jump of scene.jumps()) if (jump.how !== "unknown") pen.jump(jump.from, jump.to);
  for (const line of scene.lines().values()) pen.line(line);
  for (const [name, rect] of scene.rects()) {
    const note = noteOf(scene.doc.get(`node:${name}`));
    if (note?.frame) continue;
    if (note) pen.note(name, rect, note);
    else if (name === START || name === END) pen.pill(name, rect);
    else pen.card(name, rect);
  }
  const title = escaped(scene.doc.name || t("shell.newName"));
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}" role="img">` +
    `<title>${title}</title><style>${fontRules()}</style>` +
    `<defs>${glyphs.symbols(pen.icons, pen.states)}</defs>` +
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colours.canvas}"/>` +
    `${pen.frames.join("")}<g fill="none">${pen.lines.join("")}</g>${pen.labels.join("")}${pen.cards.join("")}</svg>`;
  return { svg, width, height };
}

/** How a card's border shows a state: colour, width, dashes. */
const BORDERS: Partial<Record<NodeOverlay["state"], readonly [Role, number, string?]>> = {
  asking: ["asking", 2],
  done: ["doneBorder", 1],
  failed: ["failed", 2],
  next: ["running", 1, "4 3"],
  running: ["running", 2],
  waiting: ["running", 1],
};

const NOTES: Readonly<Record<NoteColour, readonly [Role, Role]>> = {
  yellow: ["askingSoft", "asking"],
  green: ["doneSoft", "done"],
  blue: ["runningSoft", "running"],
  purple: ["pausedSoft", "paused"],
  red: ["failedSoft", "failed"],
  gray: ["hover", "field"],
};

const GROUPS: Readonly<Record<string, readonly [Role, Role]>> = {
  models: ["accentSoft", "accentText"],
  people: ["askingSoft", "asking"],
  knowledge: ["doneSoft", "done"],
  code: ["pausedSoft", "paused"],
};

/** Collects the parts of the drawing in the order of their layers. */
class Pen {
  readonly frames: string[] = [];
  readonly lines: string[] = [];
  readonly labels: string[] = [];
  readonly cards: string[] = [];
  readonly icons = new Set<string>();
  readonly states = new Set<string>();
  readonly #drawing: Drawing;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
  }

  line(line: Line): void {
    const { scene, overlay, colours } = this.#drawing;
    const source = scene.rect(line.from);
    const target = scene.rect(line.to);
    if (!source || !target) return;
    const from = startOf(line, source);
    const to = portOf(target, "in");
    const shape = shapeOf(line, from, to, false);
    const { times, active } = overlay ? wayOverlay(overlay.edges, line) : IDLE_EDGE;
    const stroke = active ? colours.running : times > 0 ? colours.edgeStrong : colours.edge;
    if (line.form === "each")
      for (const off of [-3, 3])
        this.lines.push(
          `<path d="${shape.path}" transform="translate(0 ${off})" stroke="${colours.edge}" opacity="0.55"/>`,
        );
    this.lines.push(
      `<path d="${shape.path}" stroke="${stroke}" stroke-width="${active || times > 0 ? 2.25 : 1.5}"${line.form === "error" ? ' stroke-dasharray="5 4"' : ""}/>`,
      meaningOf(line.form) === "possible"
        ? `<path d="${headPath(to)}" fill="${colours.canvas}" stroke="${stroke}" stroke-width="1.5"/>`
        : `<path d="${headPath(to)}" fill="${stroke}"/>`,
    );
    if (shape.join)
      this.lines.push(
        `<path d="M${shape.join.x},${shape.join.y - 9} v18" stroke="${colours.edgeStrong}" stroke-width="3.5" stroke-linecap="round"/>`,
      );
    const { x, y } = shape.label;
    if (line.caption !== null)
      this.labels.push(
        this.#text(
          x + 3,
          y - LABEL_HEIGHT / 2 - 7,
          "label",
          line.caption || t("canvas.label.empty"),
          "text3",
          {
            width: 194,
          },
        ),
      );
    if (line.bound !== null)
      this.labels.push(
        this.#text(
          shape.middle.x,
          shape.middle.y - 5,
          "sub",
          t("canvas.bound", { most: line.bound }),
          "text2",
          {
            anchor: "middle",
          },
        ),
      );
    if (line.label !== null && line.port === null) this.#label(line, shape, times > 0);
    if (times > 1 || (line.form === "each" && times > 0)) {
      const count = countAt(line, from, to);
      // It may lie on its line, where that leads back.
      this.labels.push(
        `<rect x="${count.x}" y="${count.y}" width="${COUNT.width}" height="${COUNT.height}" rx="4" fill="${this.#drawing.colours.canvas}"/>`,
        this.#text(count.x + 2, count.y + 11, "count", `×${times}`, "text2"),
      );
    }
  }

  #label(line: Line, { label: { x, y }, labelWidth }: LineShape, taken: boolean): void {
    const { colours } = this.#drawing;
    const words = shownLabel(line.form, line.isDefault, line.label ?? "") || t("canvas.label.empty");
    const round = line.form === "each" || line.form === "when" ? 4 : 10;
    const border = taken ? colours.edgeStrong : colours.border;
    this.labels.push(
      `<rect x="${x + 0.5}" y="${y - LABEL_HEIGHT / 2 + 0.5}" width="${labelWidth - 1}" height="${LABEL_HEIGHT - 1}" rx="${round}" fill="${colours.surface}" stroke="${border}"/>`,
      this.#text(x + labelWidth / 2, y + 4, line.isDefault ? "sub" : "label", words, "text2", {
        anchor: "middle",
        width: labelWidth - 12,
      }),
    );
  }

  /** A way without an edge. */
  jump(from: string, to: string): void {
    const { scene, overlay, colours } = this.#drawing;
    const [source, target] = [scene.rect(from), scene.rect(to)];
    if (!source || !target) return;
    const [start, end] = [portOf(source, "out"), portOf(target, "in")];
    const lane = jumpLane(source, target);
    const path = isBack(start, end) ? detour(start, end, lane.y, lane.inset) : curve(start, end);
    const way = { id: `jump|${from}|${to}`, from, to };
    const taken = overlay !== null && wayOverlay(overlay.edges, way).times > 0;
    const stroke = taken ? colours.edgeStrong : colours.edge;
    this.lines.push(
      `<path d="${path}" stroke="${stroke}" stroke-width="${taken ? 2.25 : 1.5}" stroke-dasharray="5 4"/>`,
      `<path d="${headPath(end)}" fill="${stroke}"/>`,
    );
  }

  pill(name: string, rect: Rect): void {
    const { colours } = this.#drawing;
    this.cards.push(
      this.#frame(rect, 14, colours.surface, "idle"),
      this.#text(
        rect.x + rect.width / 2,
        rect.y + rect.height / 2 + 4,
        "end",
        t(name === START ? "canvas.start" : "canvas.end"),
        "text2",
        { anchor: "middle" },
      ),
      this.#port(portOf(rect, name === START ? "out" : "in"), false),
    );
  }

  /** A titled border behind the nodes. */
  frame(name: string, rect: Rect, note: Note): void {
    const { colours } = this.#drawing;
    const [soft, strong] = NOTES[note.colour];
    this.frames.push(
      `<rect x="${rect.x + 0.5}" y="${rect.y + 0.5}" width="${rect.width - 1}" height="${rect.height - 1}" rx="8" fill="${colours[soft]}" fill-opacity="0.35" stroke="${colours[strong]}"/>`,
      this.#text(rect.x + 13, rect.y + 21, "name", name, "text", { width: rect.width - 26 }),
      ...this.#lines(plainText(note.text), rect.x + 13, rect.y + 46, rect.width - 26, rect.height - 34),
    );
  }

  note(name: string, rect: Rect, note: Note): void {
    const { colours, kindOf, glyphs } = this.#drawing;
    const [soft, strong] = NOTES[note.colour];
    const icon = kindOf(NOTE)?.icon ?? "sticky-note";
    this.icons.add(icon);
    const { x, y, width, height } = rect;
    const words = t("notes.of", { kind: t("notes.kind"), colour: t(`notes.colour.${note.colour}`) });
    this.cards.push(
      `<rect x="${x + 0.5}" y="${y + 0.5}" width="${width - 1}" height="${height - 1}" rx="8" fill="${colours[soft]}" stroke="${colours[strong]}"/>`,
      `<use href="#${glyphs.iconId(icon)}" x="${x + 9}" y="${y + 14}" width="16" height="16" color="${colours.text}"/>`,
      this.#text(x + 33, y + 19, "name", name, "text", { width: width - 44 }),
      this.#text(x + 33, y + 34, "sub", words, "text3", { width: width - 44 }),
      ...this.#lines(plainText(note.text), x + 11, y + 56, width - 22, height - HEAD),
    );
  }

  /** A text in as many lines as there is room for. */
  #lines(text: string, x: number, y: number, width: number, height: number): string[] {
    const most = Math.max(0, Math.floor(height / ROW));
    return wrapped(text, width, "sub", this.#drawing.measure, most).map((line, index) =>
      this.#text(x, y + index * ROW, "sub", line, "text2"),
    );
  }

  card(name: string, rect: Rect): void {
    const { scene, kindOf, overlay, colours } = this.#drawing;
    const node = nodeOf(scene.doc.get(`node:${name}`));
    const kind = kindOf(node.kind);
    const shown = overlay?.nodes.get(name);
    const disabled = disabledOf(scene.doc.get(`node:${name}`)) !== null;
    this.cards.push(this.#frame(rect, 8, colours.surface, shown?.state ?? "idle", disabled));
    if (disabled) this.cards.push('<g opacity="0.5">');
    this.#head(name, node.title ?? kind?.title ?? node.kind, rect, kind, shown);
    scene.rowsOf(name).forEach((row, index) => {
      const code = row.role !== "text";
      this.cards.push(
        this.#text(
          rect.x + 11,
          rect.y + HEAD - 1 + index * ROW + 13,
          code ? "code" : "sub",
          row.role === "into" ? `→ ${row.text}` : row.text,
          row.role === "into" ? "text3" : "text2",
          { width: rect.width - 22 },
        ),
      );
    });
    this.#ports(name, rect);
    if (disabled) this.cards.push("</g>", this.#off(rect));
    this.cards.push(this.#port(portOf(rect, "in"), false), this.#port(portOf(rect, "out"), false));
    if (shown?.state === "failed" && shown.error !== undefined)
      this.cards.push(
        this.#text(rect.x + 8, rect.y + rect.height + 16, "sub", shown.error, "failed", {
          width: rect.width - 16,
        }),
      );
  }

  #head(
    name: string,
    under: string,
    rect: Rect,
    kind: NodeKind | undefined,
    shown: NodeOverlay | undefined,
  ): void {
    const { colours, measure, glyphs } = this.#drawing;
    const icon = kind?.icon ?? "box";
    this.icons.add(icon);
    const [back, front] = GROUPS[kind?.group ?? ""] ?? ["icon", "text2"];
    const { x, y } = rect;
    this.cards.push(
      `<rect x="${x + 9}" y="${y + 8}" width="28" height="28" rx="6" fill="${colours[back]}"/>`,
      `<use href="#${glyphs.iconId(icon)}" x="${x + 15}" y="${y + 14}" width="16" height="16" color="${colours[front]}"/>`,
    );
    const marked = shown !== undefined && shown.state !== "idle";
    const right = x + rect.width - 11 - (marked ? 28 : 0);
    const left = x + 45;
    const counts = [
      shown && shown.runs > 1 ? `×${shown.runs}` : "",
      shown?.millis === undefined ? "" : duration(shown.millis),
    ];
    const counted = counts.filter((part) => part !== "").join(" ");
    const room = counted === "" ? 0 : measure(counted, "count") + 6;
    this.cards.push(
      this.#text(left, y + 19, "name", name, "text", { width: right - left }),
      this.#text(left, y + 34, "sub", under || t("canvas.node.noKind"), "text3", {
        width: right - left - room,
      }),
    );
    if (counted !== "")
      this.cards.push(this.#text(right, y + 34, "count", counted, "text2", { anchor: "end" }));
    if (shown !== undefined && shown.state !== "idle") this.#mark(shown.state, x + rect.width - 31, y + 12);
  }

  #mark(state: Exclude<NodeOverlay["state"], "idle">, x: number, y: number): void {
    const { colours, glyphs } = this.#drawing;
    this.states.add(state);
    const filled = state === "failed" || state === "asking";
    const tone = state === "rerouted" ? "failed" : state;
    const own = tone === "failed" || tone === "asking" || tone === "done" ? colours[tone] : colours.running;
    if (filled)
      this.cards.push(
        `<rect x="${x}" y="${y}" width="20" height="20" rx="${state === "failed" ? 4 : 10}" fill="${own}"/>`,
      );
    else if (state === "next")
      this.cards.push(
        `<circle cx="${x + 10}" cy="${y + 10}" r="9.25" fill="none" stroke="${own}" stroke-width="1.5"/>`,
      );
    const size = state === "next" ? 11 : 14;
    this.cards.push(
      `<use href="#${glyphs.markId(state)}" x="${x + 10 - size / 2}" y="${y + 10 - size / 2}" width="${size}" height="${size}" color="${filled ? colours.surface : own}"/>`,
    );
  }

  #ports(name: string, rect: Rect): void {
    const { scene, colours } = this.#drawing;
    const ports = allPorts(scene.ports(name));
    const { expression } = scene.ports(name);
    if (ports.length === 0) return;
    const body = scene.bodyOf(name);
    const top = rect.y + rect.height - portsHeight(body);
    this.cards.push(`<path d="M${rect.x + 1},${top + 0.5} h${rect.width - 2}" stroke="${colours.line}"/>`);
    if (expression)
      this.cards.push(
        this.#text(rect.x + 11, top + 18, "code", expression.text, "text3", { width: rect.width - 26 }),
      );
    ports.forEach((port, index) => {
      const y = rect.y + portRowY(body, index);
      this.cards.push(
        this.#text(rect.x + rect.width - 19, y + 4, "sub", port.title, port.to === null ? "text3" : "text2", {
          anchor: "end",
          width: rect.width - 34,
        }),
        this.#port({ x: rect.x + rect.width, y }, port.to === null),
      );
    });
  }

  /** The badge of a disabled node. */
  #off({ x, y }: Rect): string {
    const { colours, measure } = this.#drawing;
    const words = t("disabled.badge");
    const width = Math.ceil(measure(words, "sub")) + 12;
    return (
      `<rect x="${x + 8.5}" y="${y - 8.5}" width="${width}" height="17" rx="8" fill="${colours.surface}" stroke="${colours.field}" stroke-dasharray="3 3"/>` +
      this.#text(x + 14, y + 4, "sub", words, "text2")
    );
  }

  #frame(rect: Rect, round: number, fill: string, state: NodeOverlay["state"], disabled = false): string {
    const { colours } = this.#drawing;
    const [role, width, dashes] = disabled
      ? (["field", 1, "4 3"] as const)
      : (BORDERS[state] ?? ["border", 1]);
    const half = width === 1 ? 0.5 : 0;
    return `<rect x="${rect.x + half}" y="${rect.y + half}" width="${rect.width - 2 * half}" height="${rect.height - 2 * half}" rx="${round}" fill="${fill}" stroke="${colours[role]}" stroke-width="${width}"${dashes === undefined ? "" : ` stroke-dasharray="${dashes}"`}/>`;
  }

  #port({ x, y }: { x: number; y: number }, open: boolean): string {
    const { colours } = this.#drawing;
    const [fill, stroke] = open ? [colours.surface, colours.edgeStrong] : [colours.edge, colours.surface];
    return `<circle cx="${x}" cy="${y}" r="4" fill="${fill}" stroke="${stroke}" stroke-width="2"/>`;
  }

  #text(
    x: number,
    y: number,
    look: Look,
    words: string,
    role: Role,
    { anchor, width }: { anchor?: "middle" | "end"; width?: number } = {},
  ): string {
    const { colours, measure } = this.#drawing;
    const shown = width === undefined ? words : cut(words, width, look, measure);
    if (shown === "") return "";
    const side = anchor === undefined ? "" : ` text-anchor="${anchor}"`;
    return `<text class="${look}" x="${x}" y="${y}" fill="${colours[role]}"${side}>${escaped(shown)}</text>`;
  }
}
