// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { NodeOverlay, Overlay } from "../../debugger/overlay/overlay-model";
import { edgeKey } from "../../debugger/overlay/overlay-model";
import { GraphDocument } from "../../document/document";
import type { Json } from "../../document/types";
import { Scene } from "../window";
import type { Colours } from "./colours";
import { drawGraph } from "./svg";
import { cut, escaped, roughMeasure } from "./texts";

const colours = new Proxy({}, { get: (_, role) => `#${String(role)}` }) as Colours;
const glyphs = {
  symbols: (icons: Iterable<string>, states: Iterable<string>) =>
    [...icons, ...states].map((id) => `<symbol id="${id}"/>`).join(""),
  iconId: (icon: string) => icon,
  markId: (state: string) => state,
};

function sceneOf(sections: Record<string, Record<string, Json>>): Scene {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { name: "A & B" } },
    ...Object.entries(sections).flatMap(([section, records]) =>
      Object.entries(records).map(([name, value]) => ({ id: `${section}:${name}`, value })),
    ),
  ]);
  const scene = new Scene(doc);
  scene.setCards(new Map([["model", ["/prompt", "/into"]]]));
  return scene;
}

const small = () =>
  sceneOf({
    node: {
      "a<b": { kind: "model", title: "Ask & tell", config: { prompt: 'Say "x"\nand more', into: "y" } },
      choose: { kind: "router", config: { ways: [{ label: "left" }, { label: "right" }], into: "way" } },
      remark: { kind: "note", config: {} },
    },
    edge: {
      in: { from: "__start__", to: "a<b" },
      when: { from: "a<b", to: "choose", when: "state.n > 1" },
      route: { from: "choose", route: "state.way", paths: { left: "__end__" }, default: "a<b" },
    },
    layout: {
      __start__: [0, 0],
      "a<b": [200, 0],
      choose: [600, 0],
      __end__: [1000, 0],
      remark: [200, -200],
    },
  });

function draw(scene: Scene, overlay: Overlay | null = null) {
  const drawn = drawGraph({
    scene,
    kindOf: () => undefined,
    overlay,
    colours,
    measure: roughMeasure,
    glyphs,
  });
  if (!drawn) throw new Error("nothing was drawn");
  const xml = new DOMParser().parseFromString(drawn.svg, "image/svg+xml");
  return { ...drawn, root: xml.documentElement, texts: [...xml.querySelectorAll("text")] };
}

describe("drawGraph", () => {
  it("draws well-formed XML with every node, port, label and line", () => {
    const { root, texts } = draw(small());
    expect(root.nodeName).toBe("svg");
    expect(root.querySelector("title")?.textContent).toBe("A & B");
    const words = texts.map((text) => text.textContent);
    for (const word of ["a<b", "Ask & tell", "choose", "left", "right", "else", "state.n > 1", "→ y"])
      expect(words).toContain(word);
    // Four plain ports and two pills' ports, and three ways of the router, one of which leads nowhere.
    expect(root.querySelectorAll("circle")).toHaveLength(9);
    expect(root.querySelectorAll('circle[stroke="#edgeStrong"]')).toHaveLength(1);
    // In, when, and the two ways of the route, each with its head.
    expect(root.querySelectorAll("g > path")).toHaveLength(8);
  });

  it("draws a disabled node faded, with dashes and a badge", () => {
    const { root, texts } = draw(sceneOf({ node: { off: { kind: "model", config: {}, disabled: true } } }));
    expect(texts.map((text) => text.textContent)).toContain("Disabled");
    expect(root.querySelector('g[opacity="0.5"] text')?.textContent).toBe("off");
    expect(root.querySelectorAll("rect[stroke-dasharray]")).toHaveLength(2);
  });

  it("takes in all nodes, also those that go left and up, and lines that go round", () => {
    const scene = small();
    const { root, width, height } = draw(scene);
    const [x = 0, y = 0, w = 0, h = 0] = (root.getAttribute("viewBox") ?? "").split(" ").map(Number);
    expect([w, h]).toEqual([width, height]);
    for (const rect of scene.rects().values()) {
      expect(rect.x).toBeGreaterThanOrEqual(x);
      expect(rect.y).toBeGreaterThanOrEqual(y);
      expect(rect.x + rect.width).toBeLessThanOrEqual(x + w);
      expect(rect.y + rect.height).toBeLessThanOrEqual(y + h);
    }
    const lane = [...scene.lines().values()].find((line) => line.lane !== null)?.lane ?? Infinity;
    expect(lane).toBeLessThan(y + h);
  });

  it("shows what a run did only when it is asked to", () => {
    const done: NodeOverlay = { state: "done", runs: 3, millis: 1200, breakBefore: false, breakAfter: false };
    const overlay: Overlay = {
      nodes: new Map([["a<b", done]]),
      edges: new Map([[edgeKey("a<b", "choose"), { times: 3, active: false }]]),
    };
    const [plain, marked] = [draw(small()), draw(small(), overlay)];
    const words = marked.texts.map((text) => text.textContent);
    expect(words.filter((word) => word?.startsWith("×3"))).toHaveLength(2);
    expect(marked.root.querySelector('use[href="#done"]')).not.toBeNull();
    // The line and its head, which is hollow because the way is a condition's.
    const heads = marked.root.querySelectorAll('path[stroke="#edgeStrong"][fill="#canvas"]');
    expect(marked.root.querySelectorAll('path[stroke="#edgeStrong"]')).toHaveLength(2);
    expect(heads).toHaveLength(1);
    expect(plain.texts.some((text) => text.textContent?.startsWith("×"))).toBe(false);
    expect(plain.root.querySelector('use[href="#done"]')).toBeNull();
  });

  it("draws 10,000 nodes", () => {
    const node: Record<string, Json> = {};
    const edge: Record<string, Json> = {};
    const layout: Record<string, Json> = {};
    for (let index = 0; index < 10_000; index += 1) {
      node[`n${index}`] = { kind: "model", config: { prompt: "p", into: "x" } };
      layout[`n${index}`] = [(index % 100) * 320, Math.floor(index / 100) * 160];
      if (index > 0) edge[`e${index}`] = { from: `n${index - 1}`, to: `n${index}` };
    }
    const scene = sceneOf({ node, edge, layout });
    const drawn = drawGraph({
      scene,
      kindOf: () => undefined,
      overlay: null,
      colours,
      measure: roughMeasure,
      glyphs,
    });
    expect(drawn?.svg.match(/<text class="name"/g)).toHaveLength(10_000);
    expect(drawn?.svg.match(/<symbol/g)).toHaveLength(1);
  });
});

describe("texts", () => {
  it("cuts what does not fit, between letters and not inside of one", () => {
    expect(cut("short", 200, "name", roughMeasure)).toBe("short");
    const long = cut("👩‍🚀".repeat(40), 120, "name", roughMeasure);
    expect(long.endsWith("…")).toBe(true);
    expect(long).not.toMatch(/\p{Cs}/u);
    expect(roughMeasure(long, "name")).toBeLessThanOrEqual(120);
  });

  it("leaves nothing that XML has no place for", () => {
    expect(escaped("\u0000\u000b<&>\"'\ud800")).toBe("\ufffd\ufffd&lt;&amp;&gt;&quot;&apos;\ufffd");
  });
});
