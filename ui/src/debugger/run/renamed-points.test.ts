import { expect, it } from "vitest";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import { withKey, withNode } from "./renamed-points";

const at = (more: Partial<Breakpoint>): Breakpoint => ({ when: "before", node: "a", enabled: true, ...more });
const key = (point: Breakpoint) => withKey([point], "total", "sum")[0];
const node = (point: Breakpoint) => withNode([point], "a", "b")[0];

it("follows a state key in the place, the condition and the log text", () => {
  expect(key(at({ when: "key", node: "", key: "total", condition: "new < old.total" }))).toMatchObject({
    key: "sum",
    condition: "new < old.total",
  });
  expect(key(at({ when: "keyBytes", node: "", key: "total" }))?.key).toBe("sum");
  expect(
    key(at({ when: "after", condition: "state.total > old.total and state.totals > 1" }))?.condition,
  ).toBe("state.sum > old.sum and state.totals > 1");
  expect(key(at({ when: "edge", to: "c", log: "at {{ state['total'] }} of total" }))?.log).toBe(
    "at {{ state['sum'] }} of total",
  );
});

it("follows a node in the place, on both ends of an edge, in paths and in conditions", () => {
  expect(node(at({ when: "edge", to: "a" }))).toMatchObject({ node: "b", to: "b" });
  expect(node(at({ node: "leaf", within: "a/deep" }))).toMatchObject({ node: "leaf", within: "b/deep" });
  expect(node(at({ node: "leaf", within: "x/a" }))?.within).toBe("x/a");
  const condition = `writer == "a" or 'a' != task.node or state.name == "a"`;
  expect(node(at({ when: "key", node: "", key: "k", condition }))?.condition).toBe(
    `writer == "b" or 'b' != task.node or state.name == "a"`,
  );
});

it("leaves what is in a nested graph, and answers the same list when nothing changed", () => {
  const points = [
    at({ node: "a", within: "x", condition: "state.total > 1" }),
    at({ when: "key", node: "", key: "other" }),
  ];
  expect(withNode(points, "a", "b")).toBe(points);
  expect(withKey(points, "total", "sum")).toBe(points);
});
