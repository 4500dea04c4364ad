/** The fork map: a thread with branches, walked by pointer and keys, compared, replayed by dragging, and played. */
import type { Locator, Page } from "@playwright/test";
import { expect, type Superstep, test } from "./superstep";

const trip = {
  format: "superstep/1",
  name: "Trip",
  state: {
    days: { type: "integer", default: 3 },
    n: { type: "integer", default: 0 },
    plan: { type: "string" },
    ok: { type: "string" },
  },
  nodes: {
    count: { kind: "assign", config: { set: { n: "state.n + 1" } } },
    write: { kind: "assign", config: { set: { plan: "'Plan for ' ~ state.days ~ ' days'" } } },
    review: { kind: "ask", config: { question: "Is it good?", into: "ok" } },
    book: { kind: "assign", config: { set: { plan: "state.plan ~ ', booked'" } } },
  },
  edges: [
    { from: "__start__", to: "count" },
    { from: "count", to: "count", when: "state.n < 12" },
    { from: "count", to: "write", when: "state.n >= 12" },
    { from: "write", to: "review" },
    { from: "review", to: "book" },
    { from: "book", to: "__end__" },
  ],
  layout: { __start__: [0, 100], count: [160, 90], write: [440, 90], review: [720, 90], book: [1000, 90], __end__: [1280, 100] },
  examples: [{ name: "three days", input: { days: 3 } }],
};

async function openMap(app: Superstep): Promise<Locator> {
  await app.id("panel-bottom").locator('[data-testid="tab-forks"]').click();
  await expect(app.id("forks-summary")).not.toHaveAttribute("data-loading", /.*/);
  return app.id("fork-map");
}

/** Where the checkpoint that has the keyboard's focus is drawn. */
async function place(app: Superstep): Promise<{ x: number; y: number }> {
  const box = await app.id("fork-item").boundingBox();
  if (!box) throw new Error("nothing has the focus in the map");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const keys = async (page: Page, ...pressed: string[]) => {
  for (const key of pressed) await page.keyboard.press(key);
};

test("a thread's branches are a map: walked, compared, replayed by dragging", async ({ app, page }) => {
  await app.openGraph(trip);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("answer-form").locator("textarea, input").first().fill("yes");
  await app.id("answer-submit").click();
  await app.status("done");
  const map = await openMap(app);
  await expect(app.id("fork-branch")).toHaveCount(1);
  await expect(app.id("forks-summary")).toHaveText("1 branch · 17 checkpoints");

  // Straight runs are one line: the input, the first step, twelve steps, the question, its answer.
  await map.focus();
  const item = app.id("fork-item");
  await keys(page, "Home");
  await expect(item).toHaveAttribute("data-mark", "input");
  await keys(page, "ArrowRight");
  await expect(item).toHaveAttribute("aria-label", /folded steps, 0 to \d+, Branch 1/);
  const folded = Number(await item.getAttribute("data-folded"));
  expect(folded).toBeGreaterThan(10);
  await keys(page, "End", "ArrowLeft");
  await expect(item).toHaveAttribute("data-mark", "answer");
  await expect(item).toHaveAttribute("aria-label", /Answered question/);

  // Enter shows the moment, and the views follow.
  await keys(page, "Enter");
  await expect(app.id("past")).toBeVisible();
  await app.showState();
  await expect(app.key("ok")).toContainText("yes");

  // A folded line is gone into step by step: a click moves to the step under the pointer, Enter unfolds.
  await map.focus();
  await keys(page, "Home", "ArrowRight");
  const inside = await place(app);
  await page.mouse.click(inside.x, inside.y);
  await expect(app.key("n")).toContainText(/[4-9]/);
  await page.mouse.move(inside.x + 1, inside.y);
  await expect(app.id("fork-hover")).toContainText("→");
  await app.picture("fork-map-hover", ["light", "dark"]);
  const columns = Number(await map.getAttribute("data-columns"));
  await keys(page, "Enter");
  await expect.poll(async () => Number(await map.getAttribute("data-columns"))).toBeGreaterThan(columns + 8);

  await map.focus();
  await keys(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight", "Enter");
  await expect(app.id("past")).toBeVisible();
  const step = await item.getAttribute("data-step");

  // Dragged onto a node that does not run next, it says where it does.
  const from = await place(app);
  const drag = async (node: string) => {
    const box = await app.node(node).boundingBox();
    if (!box) throw new Error("the node is not in view");
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 12, from.y - 12, { steps: 3 });
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 });
  };
  await drag("book");
  await expect(app.id("fork-ghost")).toHaveText(`book does not run next after step ${step}`);
  await page.mouse.up();
  await expect(page.getByText("It runs next after step")).toBeVisible();

  // Onto the one that runs next it is replayed, as a branch of its own; Escape leaves it.
  await drag("count");
  await expect(app.id("fork-ghost")).toHaveAttribute("data-fits", "true");
  await app.picture("fork-map-drag", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await expect(app.id("fork-branch")).toHaveCount(1);
  await drag("count");
  await page.mouse.up();
  await app.status("asking");
  await expect(app.id("fork-branch")).toHaveCount(2);
  await expect(app.id("fork-branch").nth(1)).toContainText(`replay from step ${step}`);
  await expect(item).toHaveAttribute("data-mark", "question");
  await expect(item).toHaveAttribute("data-lane", "1");

  // From branch to branch, and compared with Ctrl.
  await map.focus();
  await keys(page, "ArrowUp");
  await expect(item).toHaveAttribute("data-lane", "0");
  await app.picture("fork-map", ["light", "dark"]);
  const other = await place(app);
  await page.keyboard.down("Control");
  await page.mouse.click(other.x, other.y);
  await page.keyboard.up("Control");
  await expect(app.id("compare")).toBeVisible();

  // Over the canvas, and back.
  await openMap(app);
  await app.id("panel-enlarge").click();
  await expect.poll(async () => (await map.boundingBox())?.height ?? 0).toBeGreaterThan(500);
  await app.picture("fork-map-large", ["light", "dark"]);
  await page.keyboard.press("Control+Shift+J");
  await expect(app.node("book")).toBeVisible();
  await expect.poll(async () => (await map.boundingBox())?.height ?? 999).toBeLessThan(300);
});

test("a branch plays at the pace of the run, and ends at a key", async ({ app, page }) => {
  await app.openGraph(trip);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  const play = app.id("playback-play");
  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  const selected = page.locator('[data-testid="checkpoint"][aria-selected="true"]');

  // From the end it begins again.
  await play.click();
  await expect(play).toHaveAttribute("aria-pressed", "true");
  await expect(app.id("past")).toBeVisible();
  await expect(page.locator('[data-testid="checkpoint"][data-later="true"]').first()).toBeVisible();
  const at = async () => Number(await selected.getAttribute("data-step"));
  await expect.poll(at).toBeGreaterThan(1);
  // Any key ends it; K goes on, faster, up to now.
  await page.keyboard.press("[");
  await expect(play).toHaveAttribute("aria-pressed", "false");
  const stopped = Number(await selected.getAttribute("data-step"));
  expect(stopped).toBeGreaterThan(0);
  await app.id("playback-speed").click();
  await page.getByRole("option", { name: "16×" }).click();
  await page.locator("body").click({ position: { x: 400, y: 4 } });
  await page.keyboard.press("k");
  await expect(app.id("past")).toHaveCount(0, { timeout: 15_000 });
  await expect(play).toHaveAttribute("aria-pressed", "false");
});

test("nested graphs of a step are lanes below it", async ({ app, page }) => {
  app.write("graphs/story/inner.json", {
    format: "superstep/1",
    name: "Inner",
    state: { n: { type: "integer", default: 0 } },
    nodes: {
      one: { kind: "assign", config: { set: { n: "state.n + 1" } } },
      two: { kind: "assign", config: { set: { n: "state.n * 2" } } },
    },
    edges: [
      { from: "__start__", to: "one" },
      { from: "one", to: "two" },
      { from: "two", to: "__end__" },
    ],
  });
  await app.openGraph({
    format: "superstep/1",
    name: "Outer",
    state: { n: { type: "integer", default: 0 } },
    nodes: { inner: { kind: "graph", config: { graph: "inner.json" } } },
    edges: [
      { from: "__start__", to: "inner" },
      { from: "inner", to: "__end__" },
    ],
    examples: [{ name: "one", input: { n: 1 } }],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const map = await openMap(app);
  await map.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await app.id("fork-nested").click();
  const lane = app.id("fork-nested-lane");
  await expect(lane).toHaveCount(1);
  await expect(app.id("fork-nested-step")).toHaveCount(4);
  await app.picture("fork-map-nested", ["light", "dark"]);
  // Its steps are in the task that ran it.
  await app.id("fork-nested-step").nth(1).click();
  await app.id("state-inspector").locator('[data-testid="tab-tasks"]').click();
  await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "inner");
  await app.id("fork-nested").click();
  await expect(lane).toHaveCount(0);
});
