/** Gestures of the editor: wires that are moved, keys that are made on the way, a view that fits, a large graph. */
import { expect, test, type Superstep } from "./superstep";

const assign = (into: string) => ({ kind: "assign", config: { set: { [into]: "'x'" } } });
const graph = {
  format: "superstep/1",
  name: "Desk",
  state: { message: { type: "string" }, decision: { type: "string" }, reply: { type: "string" } },
  nodes: {
    choose: {
      kind: "router",
      config: { ways: [{ label: "short", when: "true" }, { label: "long", when: "false" }], into: "decision" },
    },
    short: assign("reply"),
    long: assign("message"),
    list: { kind: "map", config: { items: "[1, 2]", expression: "item", into: "" } },
  },
  edges: [{ from: "__start__", to: "choose" }],
  layout: { __start__: [0, 0], choose: [120, -8], short: [440, -120], long: [440, 0], list: [440, 120], __end__: [760, 0] },
};

/** Lines on the canvas, as FROM>TO. */
async function lines(app: Superstep): Promise<string[]> {
  const all = await app.page
    .locator(".react-flow__edge")
    .evaluateAll((edges) => edges.map((edge) => edge.getAttribute("aria-label")?.replace(/Edge from (.*) to (.*)/, "$1>$2").replace(/^Start>/, "__start__>").replace(/>End$/, ">__end__") ?? ""));
  return all.sort();
}

async function middle(app: Superstep, name: string): Promise<{ x: number; y: number }> {
  const box = await app.node(name).boundingBox();
  if (!box) throw new Error(`${name} is not in view`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Takes the arrow end of the one edge into `node` and drops it at a point. */
async function dragEnd(app: Superstep, node: string, to: { x: number; y: number }): Promise<void> {
  const anchor = app.page.locator(`.react-flow__edge[aria-label$=" to ${node}"] .react-flow__edgeupdater-target`);
  const box = await anchor.boundingBox();
  if (!box) throw new Error("the edge has no end to drag");
  // The far side of the anchor: the near one lies under the port, which begins a new wire.
  const from = { x: box.x + 3, y: box.y + box.height / 2 };
  await app.page.mouse.move(from.x, from.y);
  await app.page.mouse.down();
  await app.page.mouse.move(from.x - 20, from.y + 10, { steps: 4 });
  await app.page.mouse.move(to.x, to.y, { steps: 8 });
  await app.page.mouse.up();
}

test("an end of an edge moves to the node it is dropped on, and nowhere else", async ({ app, page }) => {
  await app.openGraph({ ...graph, edges: [...graph.edges, { from: "choose", to: "short" }] });
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>short"]);

  await dragEnd(app, "short", await middle(app, "long"));
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>long"]);

  const box = await app.id("canvas").boundingBox();
  await dragEnd(app, "long", { x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + 60 });
  await expect(app.id("node-search")).toHaveCount(0);
  expect(await lines(app)).toEqual(["__start__>choose", "choose>long"]);
  await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>short"]);
});

test("wires of a router that would run both ways become its ways with one click", async ({ app, page }) => {
  const always = ["long", "short"].map((to) => ({ from: "choose", to }));
  await app.openGraph({ ...graph, edges: [...graph.edges, ...always] });
  await app.node("choose").click();
  const inspector = app.id("inspector");
  await expect(inspector).toContainText("each time, whichever way it chooses");
  await inspector.getByRole("button", { name: "Route by decision" }).click();
  await expect(inspector).not.toContainText("whichever way it chooses");
  await expect(page.locator(".react-flow__edge")).toHaveCount(3);
  await expect(app.id("edge-label-choose->?|=short")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(inspector).toContainText("whichever way it chooses");
});

test("a setting that names a state key takes the best match, or makes the key it needs", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.node("list").click();
  const into = app.id("field-/config/into").getByRole("combobox");

  await into.click();
  await into.fill("dec");
  await page.keyboard.press("Enter");
  await expect(into).toHaveValue("decision");

  await into.fill("reply");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(into).toHaveValue("reply");

  // A new name: by the button, which the keyboard reaches, and as the last row of the list.
  await into.fill("totals");
  await page.keyboard.press("Tab");
  const make = page.getByRole("button", { name: "Add “totals” (list) to the state" });
  await expect(make).toBeFocused();
  await make.click();
  await expect(make).toHaveCount(0);
  await into.fill("total");
  await page.getByRole("option", { name: "Add “total” (list) to the state" }).click();
  await expect(page.getByText("names no state key")).toHaveCount(0);
  await page.getByRole("tab", { name: "State" }).click();
  for (const key of ["totals", "total"]) await expect(page.locator(`[data-key="${key}"]`)).toContainText("list", { ignoreCase: true });
});

test("a setting that names a graph or a way of the node takes the best match, too", async ({ app, page }) => {
  const inner = { format: "superstep/1", name: "Inner", nodes: { a: { kind: "assign", config: { set: {} } } }, edges: [{ from: "__start__", to: "a" }] };
  await app.open();
  app.write("graphs/naming/memory-chat/graph.json", inner);
  const file = app.write("graphs/naming/graph.json", {
    format: "superstep/1",
    name: "Naming",
    nodes: {
      nested: { kind: "graph", config: { graph: "" } },
      pick: { kind: "router", config: { ways: [{ label: "leftover", when: "false" }, { label: "ready", when: "true" }] } },
    },
    edges: [
      { from: "__start__", to: "nested" },
      { from: "nested", to: "pick" },
    ],
  });
  await app.openFile(file);
  for (const [node, pointer, typed, taken] of [
    ["nested", "/config/graph", "memory", "memory-chat/graph.json"],
    ["pick", "/config/otherwise", "left", "leftover"],
  ] as const) {
    await app.node(node).click();
    const field = app.id(`field-${pointer}`).getByRole("combobox");
    await field.click();
    await field.fill(typed);
    // What is there is read from the disk.
    await expect(page.getByRole("option", { name: taken })).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(field).toHaveValue(taken);
  }
});

test("Export in the menu shows the graph as Mermaid and as JSON", async ({ app }) => {
  await app.openGraph(graph);
  await app.id("app-menu").click();
  await app.id("menu-graph.export").click();
  await app.id("export").getByRole("tab", { name: "Mermaid" }).click();
  await expect(app.id("export-text")).toContainText("choose");
  await expect(app.id("export-text")).toContainText("flowchart");
  await app.id("export").getByRole("tab", { name: "JSON" }).click();
  await expect(app.id("export-text")).toContainText('"format": "superstep/1"');
});

/** Are all cards inside the canvas, and none under its tools? */
async function inView(app: Superstep): Promise<boolean> {
  return app.page.evaluate(() => {
    const boxOf = (selector: string) => document.querySelector(selector)?.getBoundingClientRect();
    const canvas = boxOf('[data-testid="canvas"]');
    const tools = boxOf('[data-testid="canvas-tools"]');
    if (!canvas || !tools) return false;
    return [...document.querySelectorAll(".react-flow__node")].every((node) => {
      const box = node.getBoundingClientRect();
      const inside =
        box.left >= canvas.left && box.right <= canvas.right && box.top >= canvas.top && box.bottom <= canvas.bottom;
      const under = box.left < tools.right && box.right > tools.left && box.bottom > tools.top && box.top < tools.bottom;
      return inside && !under;
    });
  });
}

test("the view is fitted again when the window changes, until it is moved by hand", async ({ app, page }) => {
  const small = { ...graph, nodes: { choose: graph.nodes.choose }, layout: { __start__: [0, 0], choose: [120, -8], __end__: [400, 0] } };
  await app.openGraph(small);
  await expect.poll(() => inView(app)).toBe(true);
  await expect(app.id("minimap")).toHaveCount(0);

  await page.setViewportSize({ width: 1150, height: 700 });
  await expect.poll(() => inView(app)).toBe(true);
  await page.setViewportSize({ width: 1440, height: 900 });
  await app.id("use-debug").click();
  await expect.poll(() => inView(app)).toBe(true);
  await app.id("use-design").click();

  const canvas = await app.id("canvas").boundingBox();
  await page.mouse.move((canvas?.x ?? 0) + 200, (canvas?.y ?? 0) + 200);
  await page.mouse.wheel(900, 0);
  await expect(app.id("minimap")).toBeVisible();
  const moved = await page.locator(".react-flow__viewport").getAttribute("style");
  await page.setViewportSize({ width: 1300, height: 800 });
  await page.waitForTimeout(200);
  expect(await page.locator(".react-flow__viewport").getAttribute("style")).toBe(moved);
  await app.id("zoom-fit").click();
  await expect(app.id("minimap")).toHaveCount(0);
});

/** Many nodes, each with an edge on, and every third with one back to where it came from. */
function large(count: number): object {
  const name = (index: number) => `n${index}`;
  const nodes = Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), assign("reply")]));
  const layout = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [name(index), [(index % 100) * 300, Math.floor(index / 100) * 140]]),
  );
  const edges = Array.from({ length: count - 1 }, (_, index) => ({ from: name(index), to: name(index + 1) }));
  const back = Array.from({ length: Math.floor(count / 3) }, (_, index) => ({
    from: name(index * 3),
    when: "false",
    to: name(Math.floor((index * 7919) % count)),
  }));
  return { ...graph, nodes, layout, edges: [{ from: "__start__", to: name(0) }, ...edges, ...back] };
}

test("the outline opens a graph of 10,000 nodes", async ({ app, page }) => {
  await app.openGraph(large(10_000));
  await page.getByRole("tab", { name: "Outline" }).click();
  await expect(app.id("outline-node-n0")).toBeVisible();
  expect(await page.getByRole("treeitem").count()).toBeLessThan(120);
  await app.id("outline-node-n0").focus();
  await page.keyboard.press("End");
  await expect(page.locator('[role="treeitem"]:focus')).toBeVisible();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(app.node("n0")).toBeVisible();
});

test("arranging a large graph says that it is going on, and can be stopped", async ({ app, page }) => {
  await app.openGraph(large(5000));
  const before = await page.locator(".react-flow__viewport").getAttribute("style");
  await app.id("auto-layout").click();
  await expect(app.id("arranging")).toContainText("Arranging nodes");
  await app.id("stop-arranging").click();
  await expect(app.id("arranging")).toHaveCount(0);
  await expect(app.id("undo")).toBeDisabled();
  expect(await page.locator(".react-flow__viewport").getAttribute("style")).toBe(before);
  // The next one has a worker of its own.
  await app.id("auto-layout").click();
  await expect(app.id("arranging")).toBeVisible();
  await app.id("stop-arranging").click();
  await expect(app.id("arranging")).toHaveCount(0);
});

test("undo and redo show what they change", async ({ app, page }) => {
  const graph = large(500) as { layout: Record<string, [number, number]> };
  // Elsewhere than where it is arranged.
  for (const at of Object.values(graph.layout)) at[1] += 5000;
  await app.openGraph(graph);
  const shown = async (when: string) => await expect(app.node("n0"), when).toBeInViewport({ ratio: 0.9 });
  await shown("opened");
  await app.id("auto-layout").click();
  await expect(app.id("undo")).toHaveAttribute("aria-label", /Arrange/);
  await shown("arranged");
  await page.keyboard.press("Control+z");
  await shown("as it was");
  await page.keyboard.press("Control+Shift+z");
  await shown("arranged again");
  // What a person has moved the view away from.
  await app.node("n0").click();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Escape");
  await app.id("canvas").hover();
  await page.mouse.wheel(3000, 1000);
  await expect(app.node("n0")).not.toBeInViewport();
  await page.keyboard.press("Control+z");
  await shown("its move taken back");
});

test("the edit history goes back to any step, and forward again", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Steps",
    state: { n: { type: "integer" } },
    nodes: { a: { kind: "assign", config: { set: { n: "1" } } } },
    edges: [{ from: "__start__", to: "a" }, { from: "a", to: "__end__" }],
    layout: { __start__: [0, 0], a: [160, -12], __end__: [480, 0] },
  });
  const history = app.id("edit-history");
  await expect(history).toBeDisabled();
  await app.id("node-a").click();
  for (let copy = 0; copy < 3; copy += 1) await page.keyboard.press("Control+d");
  await page.keyboard.press("Delete");
  await expect(page.locator('[data-testid^="node-a"]')).toHaveCount(3);
  await history.click();
  await app.picture("edit-history", ["light", "dark"]);
  await page.getByRole("menuitem", { name: "Opened" }).click();
  await expect(page.locator('[data-testid^="node-a"]')).toHaveCount(1);
  await history.click();
  await page.getByRole("menuitem", { name: "Duplicate" }).first().click();
  await expect(page.locator('[data-testid^="node-a"]')).toHaveCount(4);
});
