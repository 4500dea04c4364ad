import { expect, it } from "vitest";
import { GraphDocument } from "./document";
import { moveLine } from "./order";
import { isObject } from "./types";

it("moves an edge among those that leave its node, and a way within its route", () => {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    ...["a", "b", "c"].map((name) => ({ id: `node:${name}`, value: { kind: "assign", config: {} } })),
    { id: "edge:1", value: { from: "a", to: "b" } },
    { id: "edge:2", value: { from: "b", to: "c" } },
    { id: "edge:3", value: { from: "a", route: "state.x", paths: { yes: "b", no: "c" } } },
  ]);
  const labels = () => {
    const route = doc.get("edge:3");
    return isObject(route) && isObject(route["paths"]) ? Object.keys(route["paths"]) : [];
  };
  doc.apply(moveLine(doc, "3", "=no", -1));
  expect(labels()).toEqual(["no", "yes"]);
  doc.apply(moveLine(doc, "3", "=no", -1));
  expect(doc.names("edge")).toEqual(["3", "1", "2"]);
  const { ops } = moveLine(doc, "3", "=no", -1);
  expect(ops, "the first stays the first").toEqual([]);
  doc.apply(moveLine(doc, "3", "=yes", 1));
  expect(doc.names("edge")).toEqual(["1", "3", "2"]);
});
