// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { deleteThings } from "../document/edits";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { undo } from "../document/undo";
import { END } from "../document/types";
import { useSession } from "../state/session";
import { addFromSearch, placeNode } from "./adding";
import { pasteOrSay } from "./clipboard";
import { intersects } from "./geometry";
import { renameEverywhere } from "./records";
import { scene } from "./scene";

beforeEach(() => {
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "layout:a", value: [0, 0] },
    { id: "layout:__start__", value: [-200, 0] },
    { id: "layout:__end__", value: [320, 8] },
  ]);
  useSession.getState().select({});
});

const rect = (name: string) => {
  const found = scene.rect(name);
  if (!found) throw new Error(`${name} is not on the canvas`);
  return found;
};

describe("a node that is added where the end is", () => {
  it("moves the end to its right, in the same undo step", async () => {
    const before = rect(END);
    const name = placeNode("assign", { x: 300, y: 0 }) ?? "";
    expect(intersects(rect(name), rect(END))).toBe(false);
    expect(rect(END).x).toBeGreaterThan(rect(name).x + rect(name).width);
    expect(rect(END).y).toBe(before.y);
    await undo();
    expect(rect(END)).toEqual(before);
    expect(doc.has(`node:${name}`)).toBe(false);
  });

  it("does so from a dropped wire too", () => {
    addFromSearch(
      { screen: { x: 0, y: 0 }, place: { x: 310, y: 22 }, wire: { node: "a", side: "out" } },
      "assign",
    );
    const [name] = useSession.getState().selection.nodes;
    expect(intersects(rect(name ?? ""), rect(END))).toBe(false);
  });

  it("leaves the end alone elsewhere", () => {
    const before = rect(END);
    placeNode("assign", { x: 300, y: 300 });
    expect(rect(END)).toEqual(before);
  });
});

describe("what is dropped or pasted", () => {
  const apart = () => {
    const all = [...scene.rects()];
    all.forEach(([a, one], at) =>
      all.slice(at + 1).forEach(([b, other]) => expect(intersects(one, other), `${a} on ${b}`).toBe(false)),
    );
  };
  const wire = (from: string, to: string) =>
    edit("wire", { ops: [{ id: `edge:${from}->${to}`, from: null, to: { from, to } }] });

  it("makes room in the line that it is dropped on", () => {
    wire("a", END);
    const line = scene.linesOf(`a->${END}`)[0]?.id ?? null;
    const name = placeNode("assign", { x: 120, y: 4 }, line);
    expect(name).not.toBe(null);
    expect(doc.edgesFrom("a").flatMap((edge) => scene.linesOf(edge).map(({ to }) => to))).toEqual([name]);
    apart();
  });

  it("lies below the card that it is dropped on", () => {
    const name = placeNode("assign", { x: 40, y: 20 }) ?? "";
    expect(rect(name).y).toBeGreaterThan(rect("a").y + rect("a").height);
    apart();
  });

  it("lies on no card, whether it is a clip or a whole graph", () => {
    const node = { kind: "assign", config: {} };
    const layout = { b: [0, 0], c: [300, 120] };
    const clip = { format: "superstep/clip/1", nodes: { b: node, c: node }, edges: [], layout };
    pasteOrSay(JSON.stringify(clip), { x: 20, y: -40 });
    apart();
    const graph = { format: "superstep/1", name: "G", nodes: { d: node, e: node }, edges: [] };
    pasteOrSay(JSON.stringify({ ...graph, layout: { d: [0, 0], e: [0, 200] } }), { x: 20, y: -40 });
    expect(doc.names("node").toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    apart();
  });
});

describe("the selection", () => {
  it("loses what undo takes away", async () => {
    const name = placeNode("assign", { x: 0, y: 300 }) ?? "";
    useSession.getState().select({ nodes: ["a", name, END] });
    await undo();
    expect(useSession.getState().selection.nodes).toEqual(["a", END]);
  });

  it("loses a deleted edge, and follows a new name", () => {
    edit("wire", { ops: [{ id: "edge:a->b", from: null, to: { from: "a", to: END } }] });
    useSession.getState().select({ nodes: ["a"], edges: ["a->b"] });
    edit("cut", (document) => deleteThings(document, { edges: ["a->b"] }));
    expect(useSession.getState().selection).toMatchObject({ nodes: ["a"], edges: [] });
    renameEverywhere("a", "first");
    expect(useSession.getState().selection.nodes).toEqual(["first"]);
  });
});

describe("the first node of a graph", () => {
  const edges = () => doc.names("edge").map((name) => doc.get(`edge:${name}`));

  it("stands between the ends", () => {
    doc.reset([{ id: "doc", value: {} }]);
    placeNode("assign", { x: 0, y: 0 });
    expect(edges()).toEqual([
      { from: "__start__", to: "assign" },
      { from: "assign", to: "__end__" },
    ]);
  });

  it("leads nowhere besides its ways when it chooses among them", () => {
    doc.reset([{ id: "doc", value: {} }]);
    placeNode("router", { x: 0, y: 0 });
    expect(edges()).toEqual([{ from: "__start__", to: "router" }]);
  });
});
