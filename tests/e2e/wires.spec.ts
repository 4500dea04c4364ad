/** Wires while they are drawn and dropped: what fits, what is refused and why, what a drop does, wires that move together. */
import { expect, test, type Superstep } from "./superstep";

const assign = (into: string, more: object = {}) => ({ kind: "assign", config: { set: { [into]: "'x'" } }, ...more });
const graph = {
  format: "superstep/1",
  name: "Desk",
  state: { decision: { type: "string" }, reply: { type: "string" } },
  nodes: {
    choose: {
      kind: "router",
      config: { ways: [{ label: "short", when: "true" }, { label: "long", when: "false" }], into: "decision" },
    },
    short: assign("reply"),
    long: assign("reply"),
    last: assign("reply"),
    words: { kind: "note", config: { text: "# Plan\n\n- **first** `reply`", color: "blue" } },
  },
  edges: [
    { from: "__start__", to: "choose" },
    { from: "choose", route: "state.decision", paths: { short: "short", long: "long" } },
    { from: "short", to: "last" },
    { from: "long", to: "last" },
    { from: "last", to: "__end__" },
  ],
  layout: { __start__: [0, 0], choose: [120, -8], short: [460, -140], long: [460, 60], last: [800, -40], words: [120, 200], __end__: [1100, 0] },
};

interface Point {
  readonly x: number;
  readonly y: number;
}

async function centre(app: Superstep, testId: string): Promise<Point> {
  const box = await app.id(testId).boundingBox();
  if (!box) throw new Error(`${testId} is not in view`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** A place of the canvas where nothing is. */
async function empty(app: Superstep): Promise<Point> {
  const box = await app.id("canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  return { x: box.x + box.width * 0.6, y: box.y + box.height - 60 };
}

async function pull(app: Superstep, port: string, ...to: Point[]): Promise<void> {
  const { mouse } = app.page;
  const from = await centre(app, port);
  await mouse.move(from.x, from.y);
  await mouse.down();
  await mouse.move(from.x + 4, from.y + 2);
  for (const { x, y } of to) await mouse.move(x, y, { steps: 6 });
}

/** Lines on the canvas, as FROM>TO. */
async function lines(app: Superstep): Promise<string[]> {
  const all = await app.page
    .locator(".react-flow__edge")
    .evaluateAll((edges) => edges.map((edge) => edge.getAttribute("aria-label")?.replace(/Edge from (.*) to (.*)/, "$1>$2").replace(/^Start>/, "__start__>").replace(/>End$/, ">__end__") ?? ""));
  return all.sort();
}

test("a refused wire says why by the pointer, to screen readers, and when it is dropped", async ({ app, page }) => {
  await app.openGraph(graph);
  const before = await lines(app);
  await pull(app, "port-out-__start__", await centre(app, "node-__end__"));
  await expect(app.id("wire-refused")).toContainText("Start cannot lead to End directly");
  await expect(app.id("announcer")).toHaveText("Start cannot lead to End directly");
  await expect(app.node("__end__")).toHaveAttribute("data-refused", "true");
  await expect(app.node("last")).not.toHaveAttribute("data-refused", "true");
  await app.picture("wire-refused", ["light", "dark"]);
  await page.mouse.up();
  await expect(app.id("wire-refused")).toHaveCount(0);
  await expect(app.id("toast")).toContainText("Add a node between them.");
  await expect(app.node("__end__")).not.toHaveAttribute("data-refused", "true");

  await pull(app, "port-out-short", await centre(app, "node-words"));
  await expect(app.id("wire-refused")).toContainText("words is a note");
  const last = await centre(app, "node-last");
  await page.mouse.move(last.x, last.y, { steps: 6 });
  await expect(app.id("wire-refused")).toContainText("short leads to last already");
  await page.mouse.up();
  expect(await lines(app)).toEqual(before);

  await pull(app, "port-out-last", await centre(app, "node-short"));
  await expect(app.id("wire-refused")).toHaveCount(0);
  await page.mouse.up();
  await expect.poll(() => lines(app)).toContain("last>short");
});

test("the search of a dropped wire lists what fits, the usual first, and finds by category", async ({ app, page }) => {
  await app.openGraph(graph);
  await pull(app, "port-out-short", await empty(app));
  await page.mouse.up();
  const search = app.id("node-search");
  await expect(search).toContainText("Usual after Assign");
  await expect(search.getByTestId("search-kind:note")).toHaveCount(0);
  await expect(search.getByTestId("search-node:words")).toHaveCount(0);
  await expect(search.getByTestId("search-node:last")).toHaveCount(0);
  await expect(search.getByTestId("search-node:long")).toHaveCount(1);
  await page.keyboard.type("people");
  await expect(search.getByRole("option").first()).toContainText("Ask");
  await expect(search.getByRole("option").first()).toContainText("People");
  await page.keyboard.press("Enter");
  await expect.poll(() => lines(app)).toContain("short>ask");
});

test("what a dropped wire does is a setting, with a second action for Shift", async ({ app, page }) => {
  await app.openGraph(graph);
  const drop = async (shift: boolean) => {
    await pull(app, "port-out-short", await empty(app));
    if (shift) await page.keyboard.down("Shift");
    await page.mouse.up();
    if (shift) await page.keyboard.up("Shift");
  };
  const search = app.id("node-search");
  await drop(true);
  await expect(search.getByRole("combobox")).toHaveCount(0);
  await expect(search.getByRole("option").last()).toHaveText("Search all…");
  // Who types searches, and no letter waits for a frame to be drawn.
  await page.evaluate(() => {
    const frames = window.requestAnimationFrame;
    window.requestAnimationFrame = () => 0;
    window.addEventListener("keyup", ({ key }) => key === "t" && (window.requestAnimationFrame = frames));
  });
  await page.keyboard.type("wait");
  await expect(search.getByRole("combobox")).toHaveValue("wait");
  await expect(search.getByRole("option").first()).toContainText("Delay");
  await page.keyboard.press("Escape");
  await expect(search).toHaveCount(0);

  await page.keyboard.press("Control+,");
  await app.id("settings").getByRole("tablist", { name: "Wire dropped on the canvas" }).getByRole("tab", { name: "Nothing" }).click();
  await app.id("settings").getByRole("tablist", { name: "The same with Shift" }).getByRole("tab", { name: "Search" }).click();
  await page.keyboard.press("Escape");
  await page.reload();
  await expect(app.node("short")).toBeVisible();
  await drop(false);
  await page.waitForTimeout(300);
  await expect(search).toHaveCount(0);
  await drop(true);
  await expect(search.getByRole("combobox")).toBeVisible();
});

test("with Shift all wires of a port move at once, and one step takes them back", async ({ app, page }) => {
  await app.openGraph(graph);
  const before = await lines(app);
  await page.keyboard.down("Shift");
  await pull(app, "port-in-last", await centre(app, "node-__start__"));
  await expect(app.id("wire-refused")).toContainText("Nothing leads to Start");
  await expect(page.locator(".line[data-carried]")).toHaveCount(2);
  const end = await centre(app, "node-__end__");
  await page.mouse.move(end.x, end.y, { steps: 6 });
  await app.picture("wires-carried", ["light", "dark"]);
  await page.mouse.up();
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>long", "choose>short", "last>__end__", "long>__end__", "short>__end__"]);
  await page.keyboard.up("Shift");
  await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual(before);

  // Out of a port; dropped on nothing they stay where they were.
  await page.keyboard.down("Shift");
  await pull(app, "port-out-last", await empty(app));
  await page.mouse.up();
  await expect(app.id("node-search")).toHaveCount(0);
  expect(await lines(app)).toEqual(before);
  await pull(app, "port-out-last", await centre(app, "node-short"));
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>long", "choose>short", "long>last", "short>__end__", "short>last"]);
});

test("the same by keys: incoming and outgoing edges move to a node that is searched for", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  const edges = async () => {
    const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
    const { json } = await app.rpc<{ json: string }>("graph.export", { graphId });
    return (JSON.parse(json) as { edges: { from: string; to?: string }[] }).edges.map(({ from, to }) => `${from}>${to}`);
  };
  await app.node("last").click();
  await app.id("canvas").press("Alt+Shift+I");
  const search = app.id("node-search");
  await expect(search.getByRole("option")).toHaveText([/choose/, /short/, /long/, /End/]);
  await page.keyboard.type("choo");
  await page.keyboard.press("Enter");
  await expect.poll(edges).toEqual(expect.arrayContaining(["short>choose", "long>choose"]));
  await app.id("canvas").press("Control+z");
  await app.id("canvas").press("Alt+Shift+O");
  await page.keyboard.type("long");
  await page.keyboard.press("Enter");
  await expect.poll(edges).toContain("long>__end__");
  expect(await edges()).not.toContain("last>__end__");
});

test("a note shows its Markdown on the canvas", async ({ app }) => {
  await app.openGraph(graph);
  const text = app.id("note-text-words");
  await expect(text.getByRole("heading", { name: "Plan" })).toBeVisible();
  await expect(text.getByRole("listitem")).toHaveText("first reply");
  await expect(text).not.toContainText("**");
});

test("edges are hidden, all but the selected node's or those of a node, and the canvas says so", async ({ app, page }) => {
  await app.openGraph(graph);
  const all = await lines(app);
  await app.node("last").click();
  await page.keyboard.press("w");
  await expect.poll(() => lines(app)).toEqual(["last>__end__", "long>last", "short>last"]);
  await expect(app.id("hidden-wires")).toContainText("3 edges hidden");
  await app.picture("edges-hidden", ["light", "dark"]);
  await page.keyboard.press("w");
  await expect.poll(() => lines(app)).toEqual(all);

  await app.node("last").click({ button: "right" });
  await page.getByRole("menuitemcheckbox", { name: "Hide its edges" }).click();
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>long", "choose>short"]);
  await app.id("hidden-wires-last").click();
  await expect(app.id("hidden-wires")).toHaveCount(0);
  await page.keyboard.press("w");
  await page.keyboard.press("Escape");
  await expect.poll(() => lines(app)).toEqual([]);
  await app.id("hidden-wires").getByRole("button", { name: "Show" }).click();
  await expect.poll(() => lines(app)).toEqual(all);
});

test("edits of the canvas are told to screen readers", async ({ app, page }) => {
  await app.openGraph(graph);
  const said = app.id("announcer");
  await pull(app, "port-out-last", await centre(app, "node-short"));
  await page.mouse.up();
  await expect(said).toHaveText(/Connected last to short/);
  await page.keyboard.press("Control+z");
  await expect(said).toHaveText(/Undone: Connect/);
  await app.node("last").click();
  await expect(said).toHaveText(/last, Assign/);
  await page.keyboard.press("Shift+ArrowDown");
  await expect(said).toHaveText(/Moved last/);
  await page.keyboard.press("Delete");
  await expect(said).toHaveText(/Deleted last, Assign, Deleted 3 edges/);
  await page.keyboard.press("Control+z");
  await expect(said).toHaveText(/Undone: Delete/);
  await page.keyboard.press("Control+Shift+z");
  await expect(said).toHaveText(/Redone: Delete/);
});

test("moving a node is a changed layout, and no unsaved change", async ({ app, page }) => {
  await app.openGraph(graph);
  const state = app.id("save-state");
  await expect(state).toHaveText("Saved");
  await app.node("last").click();
  await page.keyboard.press("Shift+ArrowDown");
  await expect(state).toHaveText("Layout changed");
  await app.picture("layout-changed", ["light", "dark"]);
  await page.keyboard.press("d");
  await expect(state).toHaveText("Unsaved changes");
  await page.keyboard.press("Control+s");
  await expect(state).toHaveText("Saved");
});

test("nodes are dragged on the grid that is set, and with Alt off it", async ({ app, page }) => {
  await page.setViewportSize({ width: 2400, height: 1000 });
  await app.openGraph(graph);
  // A card that a drag selects moves out of the way of its settings: they are open before.
  await app.node("last").click();
  await expect(app.id("inspector-name")).toHaveValue("last");
  await page.keyboard.press("Control+,");
  await app.id("settings").getByRole("tablist", { name: "Grid (px)" }).getByRole("tab", { name: "24" }).click();
  await app.picture("settings-canvas", ["light", "dark"]);
  await page.keyboard.press("Escape");
  const place = async () => {
    const style = await page.locator('.react-flow__node[data-id="last"]').evaluate((node) => node.style.transform);
    return [...style.matchAll(/-?[\d.]+/g)].map(Number);
  };
  const dragBy = async (x: number, y: number, alt: boolean) => {
    const at = await centre(app, "node-name-last");
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 6, at.y + 6);
    if (alt) await page.keyboard.down("Alt");
    await page.mouse.move(at.x + x, at.y + y, { steps: 5 });
    await page.mouse.up();
    if (alt) await page.keyboard.up("Alt");
    // It has come to where the pointer is, but for the grid.
    const left = async () => {
      const now = await centre(app, "node-name-last");
      return Math.hypot(now.x - at.x - x, now.y - at.y - y);
    };
    await expect.poll(left).toBeLessThan(24);
  };
  await dragBy(61, 47, false);
  await expect.poll(async () => (await place()).map((value) => Math.abs(value % 24))).toEqual([0, 0]);
  const before = await place();
  await dragBy(31, 7, true);
  await expect.poll(place).not.toEqual(before);
  expect((await place()).every((value) => value % 24 === 0)).toBe(false);
});
