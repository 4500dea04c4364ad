/** What if the prompt, or a value, had been different: rows run beside the thread, and the answer is read in a table. */
import { expect, test } from "./superstep";

const quoting = {
  format: "superstep/1",
  name: "Quoting",
  state: {
    hours: { type: "integer" },
    rate: { type: "integer" },
    price: { type: "integer" },
    offer: { type: "string" },
  },
  nodes: {
    price: { kind: "assign", config: { set: { price: "state.hours * state.rate" } } },
    write: {
      kind: "model",
      config: {
        model: "scripted",
        prompt: "Write an offer",
        into: "offer",
        pace_ms: 0,
        script: [{ say: "We do it for {{ state.price }} EUR." }],
      },
    },
  },
  edges: [
    { from: "__start__", to: "price" },
    { from: "price", to: "write" },
    { from: "write", to: "__end__" },
  ],
  layout: { __start__: [40, 100], price: [200, 90], write: [480, 90], __end__: [760, 100] },
  examples: [{ name: "A day", input: { hours: 8, rate: 50 } }],
};

test("another value and another text are tried from one moment, and the better one is used", async ({ app, page }) => {
  await app.openGraph(quoting);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");

  // The question comes to mind at a checkpoint of the timeline.
  const start = app.checkpoint(0);
  await start.hover();
  await start.locator('[data-testid="checkpoint-menu"]').click();
  await page.getByRole("menuitem", { name: "What if…" }).click();
  const dialog = app.id("what-if-dialog");
  await expect(dialog).toContainText("What if, from step 0");

  // Three rates at once, beside no change, and another text of the model.
  const second = dialog.locator('[data-testid="what-if-row-2"]');
  await second.locator('[data-testid="what-if-key"]').fill("rate");
  await page.getByRole("option", { name: /rate/ }).click();
  await expect(second).toContainText("Now: 50");
  await second.locator('[data-testid="what-if-vary"]').click();
  await app.id("what-if-vary-values").fill("40\n60\n75");
  await app.id("what-if-vary-go").click();
  await expect(dialog.locator("section[data-testid^='what-if-row-']")).toHaveCount(4);
  await app.id("what-if-add-row").click();
  const last = dialog.locator('[data-testid="what-if-row-5"]');
  await last.getByRole("button", { name: "Remove change" }).click();
  await last.locator('[data-testid="what-if-add-change"]').click();
  await page.getByRole("menuitem", { name: "Node setting" }).click();
  await last.locator('[data-testid="what-if-setting"]').fill("write script 0 say");
  await page.getByRole("option", { name: /write script 0 say/ }).click();
  await expect(last.locator('[data-testid="what-if-value"]')).toHaveValue("We do it for {{ state.price }} EUR.");
  await last.locator('[data-testid="what-if-value"]').fill("Only {{ state.price }} EUR!");
  await dialog.getByRole("button", { name: "Scorer, limits and side effects" }).click();
  await dialog.getByRole("combobox", { name: "Scorer" }).click();
  await page.getByRole("option", { name: "Expression" }).click();
  await app.id("what-if-expression").fill("state.price - base.price");
  await app.picture("what-if-dialog", ["light", "dark"]);
  await app.id("what-if-run").click();

  // The answer: what each row came to, beside what happened.
  await expect(dialog).toBeHidden();
  await expect(app.id("what-if-progress")).toHaveText("5 finished");
  const row = (n: number) => app.id(`what-if-result-${n}-0`);
  await expect(row(0)).toContainText("Same as the base");
  await expect(row(3)).toContainText("price 400 → 600");
  await expect(row(3)).toContainText("200");
  await expect(row(4)).toContainText("Only 400 EUR!");
  await app.picture("what-if-results", ["light", "dark"]);
  await page.getByRole("button", { name: "Score" }).click();
  await expect(page.locator("tr[data-testid^='what-if-result-']").first()).toContainText("rate = 75");

  // A row leads to the end of its branch; now is what it was.
  await row(3).click();
  await expect(app.key("offer")).toContainText("We do it for 600 EUR.");
  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  await expect(app.id("checkpoint").filter({ hasText: "What if, row 4" }).first()).toBeVisible();
  await app.id("timeline-branches").click();
  await page.getByRole("menuitem", { name: "5 what-if branches" }).hover();
  await expect(page.getByRole("menuitemcheckbox", { name: /What if, row 4/ })).toBeChecked();
  await app.picture("what-if-branches", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await app.showState();
  await expect(app.key("offer")).toContainText("We do it for 400 EUR.");
  await expect(app.id("checkpoint").filter({ hasText: "What if" })).toHaveCount(0);

  // A reload finds the grid again; the text becomes the graph's, and undo takes it back.
  await page.reload();
  await app.id("panel-bottom").locator('[data-testid="tab-what-if"]').click();
  await expect(row(4)).toContainText("Only 400 EUR!");
  await row(4).locator('[data-testid="what-if-result-menu"]').click();
  await page.getByRole("menuitem", { name: "Use this change in the graph" }).click();
  await expect(page.getByText("The change of row 5 is in the graph.")).toBeVisible();
  await page.keyboard.press("Control+z");

  // The winner's branch becomes what the thread is now.
  await row(3).locator('[data-testid="what-if-result-menu"]').click();
  await page.getByRole("menuitem", { name: "Use this branch" }).click();
  await expect(app.id("state-inspector")).toContainText("Step 4 · Fork");
  await expect(app.id("result-key"), "the fork has the result of the branch").toContainText("We do it for 600 EUR.");
  await app.showState();
  await expect(app.key("offer")).toContainText("We do it for 600 EUR.");
  await expect(app.id("run-status")).toHaveAttribute("data-status", "done");
});

test("a grid runs on while the graph is edited, and its badge leads back to it", async ({ app, page }) => {
  const waiting = {
    format: "superstep/1",
    name: "Waiting",
    state: { seconds: { type: "number" }, said: { type: "string" } },
    nodes: {
      pause: { kind: "delay", config: { seconds: "state.seconds" } },
      say: { kind: "assign", config: { set: { said: "'done'" } } },
    },
    edges: [
      { from: "__start__", to: "pause" },
      { from: "pause", to: "say" },
      { from: "say", to: "__end__" },
    ],
    layout: { __start__: [40, 100], pause: [200, 90], say: [480, 90], __end__: [760, 100] },
    examples: [{ name: "Short", input: { seconds: 0.1 } }],
  };
  await app.openGraph(waiting);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const badge = app.id("what-if-badge");
  await expect(badge).toHaveCount(0);
  await app.checkpoint(0).hover();
  await app.checkpoint(0).locator('[data-testid="checkpoint-menu"]').click();
  await page.getByRole("menuitem", { name: "What if…" }).click();
  const second = app.id("what-if-dialog").locator('[data-testid="what-if-row-2"]');
  await second.locator('[data-testid="what-if-key"]').fill("seconds");
  await page.getByRole("option", { name: /seconds/ }).click();
  await second.locator('[data-testid="what-if-value"]').fill("6");
  await app.id("what-if-run").click();
  await expect(badge).toHaveAttribute("data-running", "true");

  // Editing goes on: the graph is drawn, a node renamed, and the rows run meanwhile.
  await app.id("use-design").click();
  await expect(badge).toHaveText("1/2");
  await app.node("say").dblclick();
  await app.id("node-rename").fill("tell");
  await page.keyboard.press("Enter");
  await expect(app.node("tell")).toBeVisible();
  await expect(badge).toHaveAttribute("data-running", "true");
  await app.picture("what-if-badge", ["light", "dark"]);
  await expect(badge).toHaveText("2 finished");
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("what-if-badge-small", ["light", "dark"]);

  // From the start screen back to the graph, the thread and the table.
  await app.id("home").click();
  await expect(app.id("canvas")).toHaveCount(0);
  await badge.click();
  await expect(app.id("what-if-progress")).toHaveText("2 finished");
  await expect(app.id("what-if-result-1-0")).toHaveAttribute("data-status", "done");
  await expect(app.node("tell"), "the edit is still there").toBeVisible();
  await expect(badge, "it was looked at").toHaveCount(0);
});
