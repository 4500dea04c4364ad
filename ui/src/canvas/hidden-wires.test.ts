import { beforeEach, expect, it } from "vitest";
import { useSession } from "../state/session";
import { hiddenNow, isHidden, showAllWires, toggleNodes, toggleOthers } from "./hidden-wires";

const line = { from: "a", to: "b", edge: "a->b" };
const nothing = { nodes: [], edges: [] };
beforeEach(() => {
  useSession.setState({ graphKey: "one" });
  showAllWires();
});

it("hides all wires but those of the selected nodes, and never one that is selected", () => {
  expect(isHidden(line, hiddenNow(), nothing)).toBe(false);
  toggleOthers();
  expect(isHidden(line, hiddenNow(), nothing)).toBe(true);
  expect(isHidden(line, hiddenNow(), { nodes: ["b"], edges: [] })).toBe(false);
  expect(isHidden(line, hiddenNow(), { nodes: ["c"], edges: [] })).toBe(true);
  expect(isHidden(line, hiddenNow(), { nodes: [], edges: ["a->b"] })).toBe(false);
  toggleOthers();
  expect(isHidden(line, hiddenNow(), nothing)).toBe(false);
});

it("hides the wires of nodes, selected or not, until all of these are shown again", () => {
  toggleNodes(["a"]);
  expect(isHidden(line, hiddenNow(), { nodes: ["a", "b"], edges: [] })).toBe(true);
  expect(isHidden({ from: "c", to: "d" }, hiddenNow(), nothing)).toBe(false);
  toggleNodes(["a", "b"]);
  expect(hiddenNow().nodes).toEqual(["a", "b"]);
  toggleNodes(["b", "a"]);
  expect(hiddenNow().nodes).toEqual([]);
});

it("keeps graphs apart", () => {
  toggleOthers();
  useSession.setState({ graphKey: "two" });
  expect(hiddenNow().others).toBe(false);
  useSession.setState({ graphKey: "one" });
  expect(hiddenNow().others).toBe(true);
});
