/** A long thread: its steps folded to what differs, and its branches by what made them. */
import { expect, test } from "./superstep";

const counting = {
  format: "superstep/1",
  name: "Counting",
  state: { n: { type: "integer", default: 0 }, limit: { type: "integer", default: 60 } },
  nodes: {
    count: { kind: "assign", config: { set: { n: "state.n + 1" } } },
    report: { kind: "assign", config: { set: { limit: "state.limit" } } },
  },
  edges: [
    { from: "__start__", to: "count" },
    { from: "count", to: "count", when: "state.n < state.limit" },
    { from: "count", to: "report", when: "state.n >= state.limit" },
    { from: "report", to: "__end__" },
  ],
  recursion_limit: 500,
  examples: [{ name: "sixty", input: { n: 0, limit: 60 } }],
};

test("steps fold to one row, the cursor stays a row, branches say what made them", async ({ app, page }) => {
  await app.openGraph(counting);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const rows = app.id("checkpoint");
  const stretch = app.id("timeline-stretch");
  await expect(stretch).toHaveCount(1);
  await expect(stretch).toContainText("count ×");
  const hidden = Number(await stretch.getAttribute("data-steps"));
  expect((await rows.count()) + hidden).toBe(63);
  await app.picture("timeline-folded", ["light", "dark"]);

  // The cursor goes into the stretch and stands between what is left of it.
  await app.id("timeline-goto-step").fill("31");
  await page.keyboard.press("Enter");
  await expect(stretch).toHaveCount(2);
  await expect(page.locator('[data-testid="checkpoint"][aria-selected="true"]')).toHaveAttribute("data-step", "31");
  await app.picture("timeline-cursor", ["light", "dark"]);

  // A replay from there is a branch, and so is an edit.
  await app.id("run-replay").click();
  await app.status("done");
  await expect(app.id("timeline-branches")).toHaveText("2 branches");
  await app.id("timeline-branches").click();
  await expect(page.getByRole("menuitemcheckbox", { name: /Branch 2 · replay from step 31 · 30 steps/ })).toBeChecked();
  await app.picture("timeline-branches", ["light", "dark"]);
  await page.getByRole("menuitemcheckbox", { name: /Branch 1 · first run/ }).click();
  await expect(app.id("timeline-branches")).toBeVisible();
  await app.id("timeline-branches").click();
  await expect(page.getByRole("menuitemcheckbox", { name: /Branch 1 · first run/ })).toBeChecked();
  await page.getByRole("menuitem", { name: /Branch 2/ }).click();
  await expect(app.id("compare")).toBeVisible();

  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  await app.id("timeline-detail").press("End");
  await expect(stretch).toHaveCount(0);
  await app.id("timeline-detail").press("Home");
  await app.id("timeline-detail").press("ArrowRight");
  await expect(app.id("timeline-detail")).toHaveAttribute("data-detail", "stretches");
  await expect(stretch.first()).toBeVisible();
  // Opening one leaves its rows, which are more than the panel is high; going back up finds the others folded.
  const opened = Number(await stretch.first().getAttribute("data-steps"));
  await stretch.first().locator("button").click();
  await expect.poll(() => stretch.evaluateAll((all) => all.map((one) => Number(one.dataset["steps"])))).not.toContain(opened);
});

test("a watch shows its value at every moment, and becomes a breakpoint", async ({ app, page }) => {
  await app.openGraph(counting);
  await app.id("use-debug").click();
  const field = page.locator('[data-testid="watch-field"] .cm-content');
  const write = async (text: string) => {
    await app.id("watch-add").click();
    await expect(field).toBeFocused();
    await page.keyboard.type(text);
  };
  await write("state.n * 2");
  await page.keyboard.press("Enter");
  await expect(app.id("watch-value")).toHaveText("no thread");
  await app.id("run").click();
  await app.status("done");
  await expect(app.id("watch-value")).toHaveText("120");
  await app.id("timeline-goto-step").fill("31");
  await page.keyboard.press("Enter");
  await expect(app.id("watch-value")).toHaveText("62");
  await expect(app.id("watch-value")).toHaveAttribute("data-changed", "true");

  // A second one that cannot be evaluated says why; Escape leaves a third as it was.
  await write("state.nowhere + 1");
  await page.keyboard.press("Enter");
  await expect(app.id("watch-value")).toHaveCount(2);
  await expect(app.id("watch-value").nth(1)).toHaveAttribute("data-failed", "true");
  await app.picture("watches", ["light", "dark"]);
  await write("state.limit ");
  await page.keyboard.press("Escape");
  await expect(app.id("watch")).toHaveCount(2);
  await app.id("watch").nth(1).hover();
  await app.id("watch").nth(1).getByRole("button", { name: "Remove watch" }).click();
  await expect(app.id("watch")).toHaveCount(1);

  await page.reload();
  await expect(app.id("watch")).toHaveCount(1);
  await app.id("watch").hover();
  await app.id("watch").getByRole("button", { name: "Stop when it becomes true…" }).click();
  await expect(app.id("breakpoint-dialog")).toBeVisible();
  await expect(app.id("breakpoint-condition")).toContainText("state.n * 2");
});

test("only what failed or is pending, in the timeline and in the trace", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Waits",
    state: { n: { type: "integer", default: 0 }, word: { type: "string" } },
    nodes: {
      first: { kind: "assign", config: { set: { n: "state.n + 1" } } },
      second: { kind: "assign", config: { set: { n: "state.n + 1" } } },
      review: { kind: "ask", config: { question: "Is it right?", into: "word" } },
    },
    edges: [
      { from: "__start__", to: "first" },
      { from: "first", to: "second" },
      { from: "second", to: "review" },
      { from: "review", to: "__end__" },
    ],
    examples: [{ name: "one", input: { n: 0 } }],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  const rows = app.id("checkpoint");
  await expect(rows).toHaveCount(4);
  await app.id("timeline-only").click();
  await expect(rows).toHaveCount(1);
  await expect(rows).toHaveAttribute("data-step", "2");
  await expect(app.id("timeline-count")).toHaveText("1 of 4 checkpoints");
  await app.picture("timeline-only", ["light", "dark"]);

  await app.id("panel-bottom").locator('[data-testid="tab-trace"]').click();
  const tasks = app.id("trace-rows").locator('[data-kind="task"]');
  await expect(tasks).toHaveCount(3);
  await app.id("trace-filter").click();
  await page.getByRole("option", { name: "Failed or pending" }).click();
  await expect(tasks).toHaveCount(1);
  await expect(tasks).toHaveAttribute("data-name", "review");

  // The question is answered: nothing is left to look at, and the way back is there.
  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  await app.id("answer-banner").locator("textarea, input").first().fill("yes");
  await app.id("answer-submit").click();
  await app.status("done");
  await expect(rows).toHaveCount(5);
  await app.id("timeline-only").click();
  await expect(rows).toHaveCount(0);
  await app.id("timeline").getByRole("button", { name: "Show all steps" }).last().click();
  await expect(rows).toHaveCount(5);
});

test("loops and turns are one row each, by the slider and by keys", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Rounds",
    state: { n: { type: "integer", default: 0 }, limit: { type: "integer", default: 6 } },
    nodes: {
      begin: { kind: "assign", config: { set: { n: "0" } } },
      think: { kind: "assign", config: { set: { n: "state.n + 1" } } },
      act: { kind: "assign", config: { set: { limit: "state.limit" } } },
      close: { kind: "assign", config: { set: { limit: "state.limit" } } },
    },
    edges: [
      { from: "__start__", to: "begin" },
      { from: "begin", to: "think" },
      { from: "think", to: "act" },
      { from: "act", to: "think", when: "state.n < state.limit" },
      { from: "act", to: "close", when: "state.n >= state.limit" },
      { from: "close", to: "__end__" },
    ],
    recursion_limit: 100,
    examples: [{ name: "six", input: { limit: 6 } }],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const rows = app.id("checkpoint");
  const groups = app.id("timeline-stretch");
  await expect(rows).toHaveCount(16);
  const detail = app.id("timeline-detail");
  await expect(detail).toHaveAttribute("data-detail", "steps");

  await detail.press("ArrowLeft");
  await expect(detail).toHaveAttribute("data-detail", "loops");
  await expect(groups).toHaveCount(1);
  await expect(groups).toHaveAttribute("data-kind", "loop");
  await expect(groups).toContainText("6 rounds · 12 steps");
  await expect(groups).toContainText("think ×6, act ×6");
  await expect(rows).toHaveCount(4);
  await app.picture("timeline-loops", ["light", "dark"]);

  // By keys: down to the loop, into it, and out again.
  await app.showState();
  await app.id("checkpoints").focus();
  await page.keyboard.press("ArrowDown");
  await expect(groups).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowRight");
  await expect(rows).toHaveCount(16);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(app.key("n")).toContainText("5");
  await page.keyboard.press("ArrowLeft");
  await expect(groups).toHaveAttribute("aria-selected", "true");
  await expect(app.key("n")).toContainText("6");
  await groups.locator("button").click();
  await app.id("timeline-fold-again").click();
  await expect(groups).toHaveCount(1);

  // A turn is an input and all that followed it.
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  await expect(detail).toHaveAttribute("data-detail", "turns");
  await expect(groups, "open at the moment that is shown").toContainText("Turn 1 · 14 steps");
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await expect(groups).toHaveCount(1);
  await expect(groups).toContainText("Turn 1 · 16 steps");
  await expect(rows).toHaveCount(0);
  await app.picture("timeline-turns", ["light", "dark"]);
  await app.command("Timeline: more detail");
  await expect(detail).toHaveAttribute("data-detail", "stretches");
});
