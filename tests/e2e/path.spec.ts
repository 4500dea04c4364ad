/** The two-minute path: open an example, run it, answer, look back, edit, fork, run on, compare. */
import { expect, test } from "./superstep";

test("run an example, answer it, look back, edit, fork and compare", { tag: "@docs" }, async ({ app, page }) => {
  await app.open();
  await expect(app.id("start-screen")).toBeVisible();
  await app.picture("start", ["light", "dark"]);
  await app.openExample("refund-desk");
  await app.picture("design", ["light", "dark"]);

  // Run with the ready-made input: tokens stream, then it asks.
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText("Refund 40 EUR of 40 EUR?");
  await expect(app.node("classify")).toHaveAttribute("data-state", "done");
  await expect(app.id("state-inspector")).toContainText("Step 3");
  await app.picture("debug", ["light", "dark"]);

  // Answer in the inbox; the loop goes round and asks again.
  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(1);
  await page.mouse.move(700, 880);
  await app.picture("approve", ["light", "dark"]);
  await app.id("answer-choice").filter({ hasText: "Offer half" }).click();
  await expect(app.id("question-detail")).toContainText("Refund 20 EUR of 40 EUR?", { timeout: 20_000 });
  await app.id("answer-choice").filter({ hasText: "Approve" }).click();
  await expect(app.id("question")).toHaveCount(0);

  // Back in the debugger it ends.
  await app.id("use-debug").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("outcome")).toContainText("paid");
  await expect(app.node("propose").locator('[data-testid="card-runs"]')).toHaveText("×2");

  // An old checkpoint: canvas, state and next tasks as they were.
  await app.checkpoint(1, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.id("state-unset")).toContainText("amount");
  await expect(app.node("propose")).toHaveAttribute("data-state", "next");
  await expect(app.node("pay")).toHaveAttribute("data-state", "idle");
  await app.picture("past", ["light", "dark"]);

  // Edit the state there: a fork, from which it runs on.
  await app.key("days").hover();
  await app.key("days").locator('[data-testid="state-edit"]').click();
  await app.id("state-edit-field").locator("input").first().fill("60");
  await app.id("state-edit-done").click();
  await expect(app.id("edit-bar")).toBeVisible();
  await expect(app.id("edit-preview")).toContainText("propose");
  await app.picture("edit", ["light", "dark"]);
  await app.id("edit-apply").click();
  await expect(app.checkpoint(2, "update")).toBeVisible();
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText("Refund 20 EUR of 40 EUR?");
  await app.id("answer-choice").filter({ hasText: "Reject" }).click();
  await app.status("done");
  await app.showState();
  await expect(app.key("outcome")).toContainText("declined");

  // Both ends side by side.
  const ends = page.locator('[data-testid="checkpoint"][data-source="loop"]');
  await expect(ends.first()).toBeVisible();
  await app.checkpoint(9, "loop").click({ modifiers: ["ControlOrMeta"] });
  await expect(app.id("compare")).toBeVisible();
  await expect(page.locator('[data-testid="difference"][data-pointer="/outcome"]')).toContainText("paid");
  await expect(page.locator('[data-testid="difference"][data-pointer="/outcome"]')).toContainText("declined");
  await page.keyboard.press("Control+Shift+J");
  await app.picture("compare", ["light", "dark"]);
});

test("draw a graph from nothing, run it, answer its form", async ({ app, page }) => {
  await app.open();
  await page.getByRole("button", { name: "New graph" }).click();
  await app.id("palette-kind-ask").click();
  await expect(app.node("ask")).toBeVisible();
  await app.wire("__start__", "ask");
  await app.wire("ask", "__end__");
  await expect(page.locator('[data-testid="edge-__start__->ask"]')).toHaveCount(1);
  await expect(page.locator('[data-testid="edge-ask->__end__"]')).toHaveCount(1);

  // Delete the node with its edges, and undo.
  await app.node("ask").click();
  await page.keyboard.press("Delete");
  await expect(app.node("ask")).toHaveCount(0);
  await expect(page.locator('[data-testid="edge-__start__->ask"]')).toHaveCount(0);
  await app.id("undo").click();
  await expect(app.node("ask")).toHaveCount(1);
  await expect(page.locator('[data-testid="edge-__start__->ask"]')).toHaveCount(1);

  // A state key for the answer.
  await page.getByRole("tab", { name: "State" }).first().click();
  await app.id("add-key").click();
  await expect(page.locator("input:focus")).toBeVisible();
  await page.keyboard.type("name");
  await page.keyboard.press("Enter");
  await expect(app.id("state-key-name")).toBeVisible();

  // What is asked, and where the answer goes.
  await app.node("ask").click();
  await app.id("field-/config/question").locator(".cm-content").click();
  await page.keyboard.type("What is your name?");
  await app.id("field-/config/into").locator("input, button").first().click();
  await page.getByRole("option", { name: "name" }).click();
  await expect(app.id("inspector").getByText("is empty")).toHaveCount(0);

  await app.id("use-debug").click();
  // The only key is what the node writes: nothing is asked for.
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText("What is your name?");
  await app.id("answer-banner").locator("textarea, input").first().fill("Ada");
  await app.id("answer-submit").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("name")).toContainText("Ada");

  // Nothing of this was saved by hand, and nothing is lost when the process dies.
  await app.crash();
  await expect(app.node("ask").or(app.id("start-screen"))).toBeVisible();
  if (await app.id("start-screen").isVisible()) await page.getByText("New graph").last().click();
  await expect(app.node("ask")).toBeVisible();
});
