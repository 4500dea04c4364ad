/** The graph of a node, drawn in its card: what gives way to it, what a run says in it, and that the file knows nothing of it. */
import { readFileSync } from "node:fs";
import { expect, test, type Superstep } from "./superstep";

const put = (value: string) => ({ kind: "assign", config: { set: { note: `'${value}'` } } });
const state = { note: { type: "string" } };

function write(app: Superstep, file: string, graph: object): string {
  return app.write(`graphs/expand/${file}`, { format: "superstep/1", state, ...graph });
}

async function openOuter(app: Superstep): Promise<string> {
  write(app, "inner.json", {
    name: "Inner",
    nodes: {
      first: put("first"),
      check: { kind: "ask", config: { question: "Go on?", into: "note" } },
      last: put("last"),
    },
    edges: [
      { from: "__start__", to: "first" },
      { from: "first", to: "check" },
      { from: "check", to: "last" },
      { from: "last", to: "__end__" },
    ],
    layout: { __start__: [0, 20], first: [120, 0], check: [420, 40], last: [720, 0], __end__: [1020, 20] },
  });
  const outer = write(app, "graph.json", {
    name: "Outer",
    nodes: {
      before: put("before"),
      nested: { kind: "graph", config: { graph: "inner.json" } },
      after: put("after"),
      below: put("below"),
      lost: { kind: "graph", config: { graph: "nowhere.json" } },
      self: { kind: "graph", config: { graph: "graph.json" } },
    },
    edges: [
      { from: "__start__", to: "before" },
      { from: "before", to: "nested" },
      { from: "nested", to: "after" },
      { from: "after", to: "__end__" },
    ],
    layout: {
      __start__: [-160, 20], before: [0, 0], nested: [300, 0], after: [600, 0], __end__: [900, 20], below: [300, 140],
      lost: [0, 300], self: [0, 460],
    },
    examples: [{ name: "one", input: { note: "one" } }],
  });
  await app.open();
  await app.openFile(outer);
  return outer;
}

const boxOf = async (app: Superstep, name: string) => {
  const box = await app.node(name).boundingBox();
  if (!box) throw new Error(`${name} is not drawn`);
  return box;
};

test("a node shows its graph in place, the others give way, and folding puts all back", async ({ app, page }) => {
  const file = await openOuter(app);
  const text = readFileSync(file, "utf8");
  const inside = app.id("inside-nested");
  const inner = (name: string) => inside.locator(`[data-testid="nested-node-${name}"]`);
  await expect(app.node("nested")).toBeVisible();
  const [before, after, below] = [await boxOf(app, "nested"), await boxOf(app, "after"), await boxOf(app, "below")];

  await app.id("expand-nested").click();
  await expect(inner("first")).toBeVisible();
  await expect(inner("last")).toBeVisible();
  await expect(app.id("announcer")).toContainText("graph Inner has 3 nodes, first, check, last");
  await expect(inside).toHaveAttribute("aria-label", "Graph Inner, 3 nodes");
  // Wires still lead to the card and away from it, and nothing lies on anything.
  await expect(app.id("edge-before->nested")).toHaveCount(1);
  await expect(app.id("edge-nested->after")).toHaveCount(1);
  const frame = (await inside.boundingBox())!;
  const [moved, under] = [await boxOf(app, "after"), await boxOf(app, "below")];
  expect(frame.width).toBeGreaterThan(before.width);
  expect(moved.x).toBeGreaterThanOrEqual(frame.x + frame.width);
  expect(under.y).toBeGreaterThanOrEqual(frame.y + frame.height);
  await app.picture("expanded", ["light", "dark"]);

  // A view and no edit: nothing to save, nothing to undo, the file as it was.
  await expect(page).not.toHaveTitle(/•|\*/);
  expect(readFileSync(file, "utf8")).toBe(text);
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
  const layout = async () => {
    const { json } = await app.rpc<{ json: string }>("graph.export", { graphId });
    return (JSON.parse(json) as { layout: Record<string, [number, number]> }).layout;
  };
  expect((await layout())["after"]).toEqual([600, 0]);

  // What gave way is dragged as everywhere: by as much in the file as on the canvas.
  await page.keyboard.press("Control+1");
  await expect.poll(async () => (await boxOf(app, "__end__")).x).toBeLessThan(1400);
  const start = await boxOf(app, "after");
  const zoom = start.width / 216;
  await page.mouse.move(start.x + 60 * zoom, start.y + 14 * zoom);
  await page.mouse.down();
  await page.mouse.move(start.x + 80 * zoom, start.y + 54 * zoom, { steps: 8 });
  await page.mouse.up();
  await expect.poll(async () => (await layout())["after"]).not.toEqual([600, 0]);
  const [x = 0, y = 0] = (await layout())["after"] ?? [];
  expect(Math.abs(x - 620)).toBeLessThanOrEqual(8);
  expect(Math.abs(y - 40)).toBeLessThanOrEqual(8);
  await page.keyboard.press("Control+z");
  await expect.poll(async () => (await layout())["after"]).toEqual([600, 0]);
  // The server has it before the window says it, and what is said last stands.
  await expect(app.id("announcer")).toContainText("Undone");
  // Undo takes the drag back and leaves the graph expanded.
  await expect(inner("first")).toBeVisible();

  await app.id("expand-nested").click();
  await expect(inside).toHaveCount(0);
  await expect(app.id("announcer")).toContainText("Folded nested");
  const zoomed = (await boxOf(app, "after")).width / after.width;
  const apart = async () => (await boxOf(app, "after")).x - (await boxOf(app, "nested")).x;
  await expect.poll(apart).toBeCloseTo((after.x - before.x) * zoomed, 0);
  expect((await boxOf(app, "below")).y - (await boxOf(app, "nested")).y).toBeCloseTo((below.y - before.y) * zoomed, 0);
});

test("it is expanded by key and by name, read in the outline, and a double-click goes on to the node", async ({ app, page }) => {
  await openOuter(app);
  const inside = app.id("inside-nested");
  await app.node("nested").click();
  await page.keyboard.press("f");
  await expect(inside).toBeVisible();
  await expect(app.node("nested")).toHaveAttribute("data-selected", "true");
  await page.keyboard.press("f");
  await expect(inside).toHaveCount(0);
  await app.command("expand or fold the node");
  await expect(inside).toBeVisible();

  // Kept in the browser for this graph.
  await page.reload();
  await expect(inside.locator('[data-testid="nested-node-check"]')).toBeVisible();

  // The outline has its nodes, for those who do not see the canvas.
  await page.keyboard.press("Control+Shift+o");
  const row = app.id("outline-inside-nested-check");
  await expect(row).toHaveAttribute("role", "treeitem");
  await expect(row).toContainText("inside");
  await row.click();
  await page.keyboard.press("Enter");
  await expect(app.id("graph-name")).toHaveText("Inner");
  await expect(app.node("check")).toHaveAttribute("data-selected", "true");
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(app.id("graph-name")).toHaveText("Outer");

  await inside.locator('[data-testid="nested-node-last"]').dblclick({ force: true });
  await expect(app.id("graph-name")).toHaveText("Inner");
  await expect(app.node("last")).toHaveAttribute("data-selected", "true");

  // What is changed there and saved is drawn when one comes back.
  await page.keyboard.press("F2");
  await page.keyboard.type("final");
  await page.keyboard.press("Enter");
  await expect(app.node("final")).toBeVisible();
  await page.keyboard.press("Control+s");
  await expect.poll(() => readFileSync(app.path("graphs/expand/inner.json"), "utf8")).toContain("final");
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(inside.locator('[data-testid="nested-node-final"]')).toBeVisible();
});

test("a run marks what is inside, and a graph that is not there says what to do", async ({ app, page }) => {
  await openOuter(app);
  for (const name of ["lost", "self"]) await app.id(`expand-${name}`).click();
  await expect(app.id("inside-problem-lost")).toContainText("Create the file, or correct the path.");
  await expect(app.id("inside-problem-self")).toContainText("The graph would run itself");
  await app.picture("expanded-problems", ["light", "dark"]);
  for (const name of ["lost", "self"]) await app.node(name).click();
  await page.keyboard.press("Delete");
  await app.node("lost").click();
  await page.keyboard.press("Delete");
  await expect(app.id("inside-problem-lost")).toHaveCount(0);
  await page.keyboard.press("Control+s");

  await app.id("expand-nested").click();
  const inner = (name: string) => app.id("inside-nested").locator(`[data-testid="nested-node-${name}"]`);
  await expect(inner("first")).toBeVisible();
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await expect(inner("first")).toHaveAttribute("data-state", "done");
  await expect(inner("check")).toHaveAttribute("data-state", "asking");
  await expect(inner("last")).toHaveAttribute("data-state", "idle");
  await expect(app.node("before")).toHaveAttribute("data-state", "done");
  await app.picture("expanded-run", ["light", "dark"]);
});
