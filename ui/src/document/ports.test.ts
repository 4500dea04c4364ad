import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { deleteThings } from "./edits";
import { reversed, type Patch } from "./patch";
import { connectWay, freeWay, moveLine, portsOf, renameWay } from "./ports";
import type { Json } from "./types";

function desk(edges: Json[], more: { id: string; value: Json }[] = []): GraphDocument {
  const doc = new GraphDocument();
  const node = (name: string, kind: string, config: Json = {}) => ({
    id: `node:${name}`,
    value: { kind, config } as Json,
  });
  doc.reset([
    { id: "doc", value: { format: "superstep/1" } },
    ...more,
    node("choose", "router", { ways: [{ label: "short" }, { label: "long" }], otherwise: "other", into: "" }),
    node("ask", "ask", {
      choices: [
        { label: "Approve it", value: "approve" },
        { label: "later", value: "later" },
        { label: "Never", value: { no: true } },
      ],
      into: "decision",
    }),
    ...["a", "b", "c"].map((name) => node(name, "assign")),
    ...edges.map((value, index) => ({ id: `edge:e${index}`, value })),
  ]);
  return doc;
}

/** Applies, checks that the reverse brings everything back, and leaves the change applied. */
function apply(doc: GraphDocument, patch: Patch): void {
  const before = doc.records();
  const done = doc.apply(patch);
  doc.apply(reversed(done));
  expect(doc.records()).toEqual(before);
  doc.apply(done);
}

const shown = (doc: GraphDocument, node: string) =>
  portsOf(doc, node).ports.map(({ title, to }) => `${title}>${to ?? ""}`);

describe("ports", () => {
  it("are the ways of a router and the choices of a question before any route is there", () => {
    const doc = desk([]);
    expect(shown(doc, "choose")).toEqual(["short>", "long>", "other>"]);
    expect(shown(doc, "ask"), "a value that is no text is no label").toEqual(["Approve it>", "later>"]);
    expect(shown(doc, "a")).toEqual([]);
  });

  it("are the labels of any route, with the expression that chooses", () => {
    const doc = desk([{ from: "a", route: "state.x", paths: { on: "b", back: "a" }, default: "c" }]);
    expect(shown(doc, "a")).toEqual(["on>b", "back>a", "else>c"]);
    expect(portsOf(doc, "a").expression?.text).toBe("state.x");
  });

  it("of a question whose answer is looked at in another way are those of the route", () => {
    const doc = desk([{ from: "ask", route: "'x' if state.decision else 'y'", paths: { x: "a", y: "b" } }]);
    expect(shown(doc, "ask")).toEqual(["x>a", "y>b"]);
  });

  it("keep apart those of several routes", () => {
    const doc = desk([
      { from: "a", route: "state.x", paths: { on: "b" } },
      { from: "a", route: "state.y", paths: { on: "c" } },
    ]);
    expect(new Set(portsOf(doc, "a").ports.map((port) => port.id)).size).toBe(2);
  });
});

describe("drawing from a port", () => {
  it("makes the route and its key, then extends it, and moves a way that leads somewhere", () => {
    const doc = desk([]);
    apply(doc, connectWay(doc, "choose", { way: "port", id: "=long" }, "b"));
    expect(doc.get("node:choose")).toMatchObject({ config: { into: "way" } });
    expect(doc.get("key:way")).toEqual({ type: "string" });
    apply(doc, connectWay(doc, "choose", { way: "port", id: "=short" }, "a"));
    apply(doc, connectWay(doc, "choose", { way: "port", id: "=long" }, "c"));
    expect(doc.names("edge").map((edge) => doc.get(`edge:${edge}`))).toEqual([
      { from: "choose", route: "state.way", paths: { long: "c", short: "a" } },
    ]);
    apply(doc, connectWay(doc, "choose", { way: "else" }, "b"));
    expect(shown(doc, "choose")).toEqual(["short>a", "long>c", "other>", "else>b"]);
  });

  it("takes the place of a wire that would be followed each time", () => {
    const doc = desk([
      { from: "ask", to: "a" },
      { from: "ask", to: "b" },
    ]);
    apply(doc, connectWay(doc, "ask", { way: "port", id: "=approve" }, "a"));
    expect(doc.names("edge").map((edge) => doc.get(`edge:${edge}`))).toEqual([
      { from: "ask", to: "b" },
      { from: "ask", route: "state.decision", paths: { approve: "a" } },
    ]);
  });

  it("adds a way to the settings of a router, and only a label elsewhere", () => {
    const doc = desk([{ from: "a", route: "state.x", paths: { on: "b" } }]);
    apply(doc, connectWay(doc, "choose", { way: "new", label: freeWay(doc, "choose", "short") }, "c"));
    expect(shown(doc, "choose")).toEqual(["short>", "long>", "short 2>c", "other>"]);
    apply(doc, connectWay(doc, "a", { way: "new", label: "off" }, "c"));
    expect(doc.get("edge:e0")).toMatchObject({ paths: { on: "b", off: "c" } });
  });

  it("besides all ways is a plain edge, once", () => {
    const doc = desk([]);
    apply(doc, connectWay(doc, "choose", { way: "always" }, "a"));
    expect(connectWay(doc, "choose", { way: "always" }, "a").ops).toEqual([]);
    expect(connectWay(doc, "choose", { way: "port", id: "=short" }, "__start__").ops).toEqual([]);
  });
});

describe("moving a line", () => {
  const edges: Json[] = [
    { from: "choose", route: "state.way", paths: { short: "a", long: "b" } },
    { from: "a", to: "b" },
  ];
  const way = [{ id: "key:way", value: { type: "string", enum: ["short", "long"] } as Json }];
  const routed = () => {
    const doc = desk(edges, way);
    doc.apply({
      ops: [
        {
          id: "node:choose",
          from: doc.get("node:choose") ?? null,
          to: { kind: "router", config: { ways: [{ label: "short" }, { label: "long" }], into: "way" } },
        },
      ],
    });
    return doc;
  };

  it("goes to another node, another way, another source, and from plain to a way", () => {
    const doc = routed();
    apply(doc, moveLine(doc, "e0", "=short", { from: "choose", port: "=short", to: "c" }));
    expect(shown(doc, "choose")).toEqual(["short>c", "long>b"]);
    apply(doc, moveLine(doc, "e0", "=short", { from: "choose", port: "=long", to: "c" }));
    expect(shown(doc, "choose")).toEqual(["short>", "long>c"]);
    apply(doc, moveLine(doc, "e1", "", { from: "choose", port: "=short", to: "b" }));
    expect(shown(doc, "choose")).toEqual(["short>b", "long>c"]);
    expect(doc.has("edge:e1")).toBe(false);
    apply(doc, moveLine(doc, "e0", "=long", { from: "a", port: null, to: "c" }));
    expect(doc.edgesFrom("a").map((edge) => doc.get(`edge:${edge}`))).toEqual([{ from: "a", to: "c" }]);
    expect(shown(doc, "choose")).toEqual(["short>b", "long>"]);
  });

  it("leaves an open port behind when it is deleted, and no route without ways", () => {
    const doc = routed();
    apply(doc, deleteThings(doc, { paths: [{ edge: "e0", part: "=short" }] }));
    expect(shown(doc, "choose")).toEqual(["short>", "long>b"]);
    apply(doc, deleteThings(doc, { paths: [{ edge: "e0", part: "=long" }] }));
    expect(doc.has("edge:e0")).toBe(false);
  });

  it("is renamed with the settings, the route and the key's values", () => {
    const doc = routed();
    apply(doc, renameWay(doc, "choose", "=short", "brief"));
    expect(shown(doc, "choose")).toEqual(["brief>a", "long>b"]);
    expect(doc.get("key:way")).toEqual({ type: "string", enum: ["brief", "long"] });
    expect(doc.get("edge:e0")).toMatchObject({ paths: { brief: "a", long: "b" } });
    expect(renameWay(doc, "choose", "=long", "brief").ops, "taken").toEqual([]);
    // A button's text is not the value that the state takes.
    apply(doc, renameWay(doc, "ask", "=approve", "Yes"));
    expect(shown(doc, "ask")).toEqual(["Yes>", "later>"]);
    expect(portsOf(doc, "ask").ports[0]?.label).toBe("approve");
  });
});
