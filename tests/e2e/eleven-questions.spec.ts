/**
 * The questions of a debugger, asked in the window on the nasty graph (`fixtures/nasty`): each is answered with at most three
 * actions from where it comes to mind, and the answer is read. A person's action is a click, a key, or a text that is typed.
 */
import type { Page } from "@playwright/test";
import { openNasty } from "./fixtures/nasty/nasty";
import { expect, test, type KeyButton, type Superstep } from "./superstep";

const MOST_ACTIONS = 3;

/** Counts what a person does for an answer. */
class Asking {
  private done = 0;
  constructor(
    private readonly app: Superstep,
    private readonly page: Page,
  ) {}

  async does(action: () => Promise<unknown>): Promise<void> {
    this.done += 1;
    expect(this.done, "actions for one question").toBeLessThanOrEqual(MOST_ACTIONS);
    await action();
  }

  /** A button that stands in the row of a state key while the pointer is there. */
  async keyButton(key: string, button: KeyButton): Promise<void> {
    await this.does(() => this.app.keyButton(key, button));
  }

  async node(name: string): Promise<void> {
    await this.does(() => this.app.node(name).click());
  }

  async step(n: number): Promise<void> {
    await this.does(async () => {
      await this.app.id("timeline-goto-step").fill(String(n));
      await this.page.keyboard.press("Enter");
    });
  }
}

const showState = (page: Page) => page.getByTestId("state-inspector").getByTestId("tab-state").click();
const taskPage = (page: Page, node: string) =>
  page.locator(`[data-testid="task"][data-selected][data-node="${node}"]`);

test("the fixture is what it says", async ({ app, page }) => {
  await openNasty(app);
  const count = await app.rpc<{ checkpoints: unknown[] }>("thread.checkpoints", {
    threadId: await page.getByTestId("thread").first().getAttribute("data-thread"),
    limit: 500,
  });
  expect(count.checkpoints.length).toBeGreaterThan(90);
  await expect(app.id("timeline-branches")).toHaveText("3 branches");
  await app.picture("nasty", ["light", "dark"]);
});

test("1: who wrote this value, from what; and which task first had it wrong", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  await showState(page);
  const who = new Asking(app, page);
  await who.keyButton("sum", "state-why");
  const writes = page.getByTestId("provenance-write");
  await expect(writes.first()).toContainText("by add_up");
  await expect(writes.first()).toContainText("Key read: results");
  await expect(writes.nth(1)).toHaveAttribute("data-pointer", "/results");
  await expect(writes.nth(1)).toContainText("by 200 tasks of item");
  await app.picture("question-1", ["light", "dark"]);

  await app.id("provenance").getByRole("button", { name: "State" }).click();
  const first = new Asking(app, page);
  // In the branch where nobody corrected it.
  await page.getByTestId("timeline-branches").click();
  await page.getByRole("menuitemcheckbox", { name: /Branch 1/ }).click();
  await first.keyButton("total", "state-history");
  await first.does(async () => {
    await app.id("key-first").fill("< 0");
    await page.keyboard.press("Enter");
  });
  await expect(app.id("key-history")).toContainText("First at step 28");
});

test("2: why it went this way, and why not there", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.step(23);
  // The page has the visit that began here; the one before it is that of the step.
  await asking.node("loop");
  await asking.does(() => app.id("task-visit-previous").click());
  const task = taskPage(page, "loop");
  const decision = task.locator('[data-testid="decision"][data-taken="true"]');
  await expect(decision).toContainText("To loop");
  await expect(decision).toContainText("→ again");
  await expect(decision).toContainText("n = 19");
  await expect(task.getByTestId("decision-other")).toHaveText([
    "not check: check",
    "not comment: comment",
    "not done: prepare",
  ]);
  await app.picture("question-2", ["light", "dark"]);
});

test("3: what differs between two forks", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.does(() => app.id("timeline-branches").click());
  await asking.does(() => page.getByRole("menuitem", { name: /Branch 1/ }).click());
  await expect(app.id("compare")).toBeVisible();
  await expect(app.id("compare-path")).toContainText("First divergence");
  await expect(page.locator('[data-testid="difference"][data-pointer="/total"]')).toBeVisible();
  await expect(page.locator('[data-testid="difference"][data-pointer="/bill"]')).toBeVisible();
  await page.keyboard.press("Control+Shift+J");
  await app.picture("question-3", ["light", "dark"]);
});

test("4: where the time, the tokens and the money went", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.does(() => app.id("panel-bottom").locator('[data-testid="tab-trace"]').click());
  await expect(app.id("trace-summary")).toContainText("model calls");
  await asking.does(() => app.id("trace-dearest").click());
  const task = taskPage(page, "comment");
  await expect(task.getByTestId("task-calls")).toContainText("openai::gpt-4o-mini");
  await expect(task.getByTestId("task-calls")).toContainText("USD");
  await expect(task.getByTestId("task-visits")).toContainText("Visit 4 of 4");
  await app.picture("question-4", ["light", "dark"]);
});

test("5: stop when this happens", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  await showState(page);
  const asking = new Asking(app, page);
  await asking.keyButton("retries", "state-history");
  await asking.does(() => app.id("key-first").fill("> 2"));
  await asking.does(() => app.id("key-stop").click());
  await expect(app.id("breakpoint")).toContainText("retries");

  // It does: the fork goes on from before the service and stops after it.
  await page.locator("body").click({ position: { x: 400, y: 4 } });
  await page.keyboard.press("[");
  await app.id("run-replay").click();
  await app.id("effects-go").click();
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("retries");
  await expect(app.id("stop-reason")).toContainText("service");
  await expect(app.id("state-inspector")).toContainText("Step 54 · after service");
  await app.picture("question-5", ["light", "dark"]);
});

test("6: what this task saw, read and did: which of 200 packets, which round of the loop", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const packet = new Asking(app, page);
  await packet.node("item");
  await packet.does(() => app.id("task-visit-previous").click());
  await expect(app.id("packet").first()).toBeVisible();
  await packet.does(() => app.id("packet-filter").fill("-5"));
  await expect(app.id("packet")).toHaveCount(1);
  await expect(app.id("packet")).toContainText("137");
  await app.picture("question-6", ["light", "dark"]);
  await app.id("packet").click();
  const task = taskPage(page, "item");
  await expect(task.getByTestId("task-input")).toContainText('"item": 137');
  await expect(task.getByTestId("task-writes")).toContainText('"v": -5');

  // The round in which the total went wrong, from the last.
  const round = new Asking(app, page);
  await round.node("loop");
  await round.does(() => app.id("task-visit-previous").click());
  await expect(app.id("task-visits")).toContainText("Visit 40 of 40");
  await round.does(() => app.id("task-visit-previous").click());
  await expect(app.id("task-visits")).toContainText("Visit 39 of 40");
  await expect(taskPage(page, "loop").getByTestId("task-input")).toContainText("38");

  // A node that failed three times says so, with what it logged each time.
  await app.goTo("service");
  await app.node("service").click();
  await app.id("task-visit-next").click();
  const service = taskPage(page, "service");
  await expect(service).toContainText("service unavailable, attempt 3");
  await expect(service.getByTestId("task-how")).toContainText("Attempt 4 succeeded");
  await expect(service.getByTestId("task-log")).toContainText("attempt 4");
  await app.picture("task", ["light", "dark"]);
});

test("7: what if the value, or the prompt, had been different", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  await showState(page);
  // Where the total went wrong on the branch that was approved.
  await page.getByTestId("timeline-branches").click();
  await page.getByRole("menuitemcheckbox", { name: /Branch 1/ }).click();
  await app.id("timeline-goto-step").fill("28");
  await page.keyboard.press("Enter");
  await expect(app.key("total")).toContainText("-724");

  const value = new Asking(app, page);
  await value.keyButton("total", "state-what-if");
  const typed = app.id("what-if-row-2").getByTestId("what-if-value");
  await expect(typed, "what is typed is the new value").toBeFocused();
  await expect(typed).toHaveValue("-724");
  await value.does(() => page.keyboard.type("276"));
  await value.does(() => app.id("what-if-run").click());
  await expect(app.id("what-if-progress")).toHaveText("2 finished", { timeout: 60_000 });
  const row = (n: number) => app.id(`what-if-result-${n}-0`);
  await expect(row(0)).toHaveAttribute("data-status", "asked");
  await expect(row(1)).toHaveAttribute("data-status", "asked");
  await expect(row(0)).toContainText("with total -180?");
  await expect(row(1)).toContainText("with total 820?");
  await app.picture("question-7", ["light", "dark"]);

  // The prompt: from the page of the task that asked, on the branch of that row.
  await row(1).click();
  await app.node("comment").click();
  const task = taskPage(page, "comment");
  await app.id("task-visit-previous").click();
  await expect(task.getByTestId("exchange")).toContainText("recorded answer");
  await task.getByTestId("exchange").getByRole("button").first().click();
  const prompt = new Asking(app, page);
  await prompt.does(() => task.getByTestId("playground-open").click());
  await prompt.does(() => app.id("playground-prompt").fill("Comment on everything."));
  await prompt.does(() => app.id("playground-run").click());
  // It is asked as it was: the recorded answers have none for this.
  await expect(app.id("playground-try").first()).toContainText("has no recorded answer");
});

test("8: what would happen if I answered", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.does(() => app.id("use-approve").click());
  const way = (choice: number) =>
    page.locator(`[data-testid="answer-choice"][data-choice="${choice}"] [data-testid="answer-path"]`);
  await expect(way(1)).toHaveText(/^book.*once.*mail.*repeatable.*End$/);
  await expect(way(2)).toHaveText(/^prepare.*item.*×200.*add_up.*service.*Asks “Book 5255852 with total 4610\?” · approve/);
  await expect(way(3)).toHaveText(/^rejected.*End$/);
  await app.picture("question-8", ["light", "dark"]);
});

test("9: which threads did this", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.does(() => page.keyboard.press("Control+Shift+F"));
  await asking.does(() => page.keyboard.type("mailed"));
  await expect(app.id("query-result")).toHaveCount(1);
  await expect(app.id("query-result")).toContainText("Books of the year");
  await expect(app.id("query-result")).toContainText("by mail");
  await app.picture("question-9", ["light", "dark"]);
});

test("10: what would happen to the world again from here", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const asking = new Asking(app, page);
  await asking.step(20);
  await asking.does(() => app.id("run-replay").click());
  await expect(app.id("effect")).toHaveCount(2);
  await expect(app.id("effect").filter({ hasText: "book" })).toContainText("once");
  await expect(app.id("effect").filter({ hasText: "mail" })).toBeVisible();
  await app.picture("question-10", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await expect(app.id("effect")).toHaveCount(0);
});

test("11: the graph was changed: what becomes of the thread that waits", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  await expect(app.id("graph-moved")).toHaveCount(0);
  // The node that asks gets another name.
  await app.id("use-design").click();
  await app.id("zoom-fit").click();
  await app.node("approve").click();
  await page.keyboard.press("F2");
  await app.id("node-rename").fill("sign_off");
  await page.keyboard.press("Enter");
  await expect(app.node("sign_off")).toBeVisible();

  const asking = new Asking(app, page);
  await asking.does(() => app.id("use-debug").click());
  await expect(app.id("graph-moved")).toContainText("This thread ran on an earlier version of the graph.");
  // Where an answer leads is not known before that is decided.
  await expect(app.id("answer-path").filter({ hasText: "End" })).toHaveCount(0);
  await asking.does(() => app.id("answer-choice").first().click());
  const report = app.id("hot-edit");
  await expect(report).toContainText("approve");
  await expect(app.id("hot-edit-map-approve"), "the node that runs in its place is proposed").toContainText("sign_off");
  await app.picture("question-11", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await expect(report).toHaveCount(0);
  await app.status("asking");
});
