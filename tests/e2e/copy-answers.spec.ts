/** Every answer of the debugger is copied as text for a report, as what the window shows. */
import { openNasty } from "./fixtures/nasty/nasty";
import { expect, test, type Superstep } from "./superstep";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** What the button of an answer copies. */
async function copied(app: Superstep, within: string): Promise<string> {
  await app.id(within).getByTestId("copy-answer").first().click();
  return app.page.evaluate(() => navigator.clipboard.readText());
}

test("comparison, history, trace and search are copied as Markdown", async ({ app, page }) => {
  await openNasty(app);
  await app.showState();
  await app.keyButton("total", "state-history");
  const history = await copied(app, "key-history");
  expect(history).toContain("# History of total");
  expect(history).toMatch(/- Step \d+, /);
  await app.id("key-history").getByRole("button", { name: "State" }).click();
  await app.keyButton("sum", "state-why");
  expect(await copied(app, "provenance")).toMatch(/^# Who wrote sum\n\n- `sum`: .*by add_up/);

  await app.id("timeline-branches").click();
  await page.getByRole("menuitem", { name: /Branch 1/ }).click();
  await expect(app.id("compare-path")).toContainText("First divergence");
  const comparison = await copied(app, "compare");
  expect(comparison).toContain("First divergence");
  expect(comparison).toMatch(/- `total`: `-?\d+` → `-?\d+`/);

  await app.id("panel-bottom").locator('[data-testid="tab-trace"]').click();
  await expect(app.id("trace-summary")).toContainText("model calls");
  expect(await copied(app, "trace")).toContain("| Name | Start | Time |");

  await page.keyboard.press("Control+Shift+F");
  await page.keyboard.type("mailed");
  await expect(app.id("query-result")).toHaveCount(1);
  await expect(app.id("query-progress")).toHaveAttribute("data-state", "done");
  const found = await copied(app, "query");
  expect(found).toContain("# Find in threads\n\n- `mailed`\n\n1 moment");
  expect(found).toContain("Books of the year");
});

test("what a replay would repeat, and where answers lead, are copied", async ({ app, page }) => {
  await openNasty(app);
  await app.id("timeline-goto-step").fill("20");
  await page.keyboard.press("Enter");
  await app.id("run-replay").click();
  await expect(app.id("effect")).toHaveCount(2);
  const effects = await copied(app, "effects");
  expect(effects).toContain("# Replay from step 20");
  expect(effects).toMatch(/\| book \| Must not be repeated \(once\) \|/);
  await page.keyboard.press("Escape");

  await app.id("use-approve").click();
  await expect(app.id("answer-path").first()).toContainText("book");
  expect(await copied(app, "answer-form")).toMatch(/\| book \(once, done before\) → mail \(repeatable, done before\) → End \|/);
});
