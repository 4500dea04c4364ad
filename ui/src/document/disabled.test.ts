import { describe, expect, it } from "vitest";
import { disabledOf, setWayOut, someEnabled, toggleDisabled, waysOut } from "./disabled";
import { GraphDocument } from "./document";
import { copyNodes, pasteClip } from "./clip";
import { renameNode } from "./edits";
import type { Json } from "./types";

function graph(): GraphDocument {
  const doc = new GraphDocument();
  const node = (name: string, kind = "assign") => ({ id: `node:${name}`, value: { kind, config: {} } });
  const edge = (id: string, value: Json) => ({ id: `edge:${id}`, value });
  doc.reset([
    { id: "doc", value: {} },
    node("first"),
    node("choose", "router"),
    node("a"),
    node("b"),
    node("remark", "note"),
    edge("1", { from: "__start__", to: "first" }),
    edge("2", { from: "first", to: "choose" }),
    edge("3", { from: "choose", route: "state.way", paths: { left: "a", right: "b", also: "a" } }),
    edge("4", { from: "a", when: "state.n > 1", to: "b" }),
    edge("5", { from: "b", to: "__end__" }),
  ]);
  return doc;
}

const off = (doc: GraphDocument, name: string) => disabledOf(doc.get(`node:${name}`));

describe("disabled nodes", () => {
  it("lists where a node leads that decides itself", () => {
    const doc = graph();
    expect(waysOut(doc, "choose")).toEqual([
      { to: "a", labels: ["left", "also"] },
      { to: "b", labels: ["right"] },
    ]);
    expect(waysOut(doc, "first")).toEqual([]);
    expect(waysOut(doc, "first", ["a"])).toEqual([{ to: "a", labels: [] }]);
  });

  it("are switched off together, and on again; the only way out is taken, of several none", () => {
    const doc = graph();
    const names = ["first", "choose", "a", "remark"];
    doc.apply(toggleDisabled(doc, names));
    expect(names.map((name) => off(doc, name))).toEqual([{ way: null }, { way: null }, { way: "b" }, null]);
    expect(someEnabled(doc, names)).toBe(false);
    doc.apply(toggleDisabled(doc, names));
    expect(names.map((name) => off(doc, name))).toEqual([null, null, null, null]);
    expect(doc.get("node:first")).toEqual({ kind: "assign", config: {} });
  });

  it("switches off what still works of a mixed selection", () => {
    const doc = graph();
    doc.apply(toggleDisabled(doc, ["first"]));
    doc.apply(toggleDisabled(doc, ["first", "b"]));
    expect([off(doc, "first"), off(doc, "b")]).toEqual([{ way: null }, { way: null }]);
  });

  it("keeps its way when the node it leads to is renamed or copied with it", () => {
    const doc = graph();
    doc.apply(setWayOut(doc, "choose", "a"));
    doc.apply(renameNode(doc, "a", "answer", []));
    expect(off(doc, "choose")).toEqual({ way: "answer" });
    const clip = copyNodes(doc, ["choose", "answer"], () => ({ x: 0, y: 0 }));
    doc.apply(pasteClip(doc, clip, { x: 0, y: 0 }, []).patch);
    expect(off(doc, "choose_2")).toEqual({ way: "answer_2" });
  });
});
