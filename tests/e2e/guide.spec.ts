/** Pictures of the guide that no other story takes: how a graph grows, and how it is drawn from near and from far. */
import { expect, test } from "./superstep";

test("a node is added where a wire is dropped, by the words that one knows", { tag: "@docs" }, async ({ app, page }) => {
  await app.openExample("refund-desk");
  const [from, canvas] = [await app.id("port-out-forward").boundingBox(), await app.id("canvas").boundingBox()];
  if (!from || !canvas) throw new Error("no port");
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 60, { steps: 4 });
  await page.mouse.move(from.x + 90, from.y + 110, { steps: 4 });
  await page.mouse.up();
  const search = app.id("node-search");
  await expect(search).toBeVisible();
  await page.keyboard.type("human in the loop");
  await expect(search.getByRole("option").first()).toContainText("Ask");
  await app.picture("add", ["light", "dark"]);
  await page.keyboard.press("Enter");
  await expect(app.node("ask")).toBeVisible();
  await expect(page.locator('[data-testid="edge-forward->ask"]')).toHaveCount(1);
  await page.keyboard.press("Control+z");
  await expect(app.node("ask")).toHaveCount(0);
});

test("the ways of a router are its ports, each with its label", { tag: "@docs" }, async ({ app, page }) => {
  await app.openExample("document-pipeline");
  await app.node("check").click();
  await expect(app.id("inspector")).toBeVisible();
  await expect(app.id("way-check-=ask")).toBeVisible();
  await expect(app.id("way-check-=write")).toBeVisible();
  await app.picture("ways", ["light", "dark"]);
});

test("a graph is drawn as cards, as names, and as blocks", { tag: "@docs" }, async ({ app, page }) => {
  await page.setViewportSize({ width: 860, height: 500 });
  await app.openExample("knowledge-agent");
  const zoom = async () => Number(/\d+/.exec((await app.id("zoom-value").textContent()) ?? "")?.[0]);
  const canvas = app.id("canvas");
  // Cards that are to be seen, not the small map before them.
  await app.id("canvas-tools").getByRole("button", { name: "Minimap" }).click();
  await page.keyboard.press("Control+0");
  await expect.poll(zoom).toBe(100);
  await expect(app.node("retrieve")).toContainText("Search the handbook");
  await page.mouse.move(430, 60);
  await app.picture("near", ["light", "dark"], canvas);
  await app.id("zoom-fit").click();
  await expect.poll(zoom).toBeLessThan(62);
  await app.picture("middle", ["light", "dark"], canvas);
  for (let tries = 0; (await zoom()) >= 30 && tries < 10; tries += 1) {
    await app.id("zoom-out").click();
    await page.waitForTimeout(300);
  }
  expect(await zoom()).toBeLessThan(30);
  await app.picture("far", ["light", "dark"], canvas);
});

test("a breakpoint has a condition, and a run stops at one", { tag: "@docs" }, async ({ app, page }) => {
  await app.openExample("refund-desk");
  await app.id("use-debug").click();
  await app.node("draft").click();
  await page.keyboard.press("F9");
  await expect(app.id("breakpoint")).toContainText("draft");
  await app.id("breakpoint-add").click();
  await page.getByRole("menuitem", { name: "When a condition becomes true…" }).click();
  const condition = app.id("breakpoint-condition").locator(".cm-content, textarea, input").first();
  await condition.click();
  await page.keyboard.type("state.attempts > 1");
  await app.picture("breakpoint", ["light", "dark"]);
  await app.id("breakpoint-save").click();
  await app.id("run").click();
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("draft");
  await app.picture("stopped", ["light", "dark"]);
});

test("a first graph, step by step as the guide has it", async ({ app, page }) => {
  await app.open();
  await page.getByRole("button", { name: "New graph" }).click();
  await app.id("palette-kind-ask").click();
  await expect(page.locator('[data-testid="edge-__start__->ask"]')).toHaveCount(1);
  await expect(page.locator('[data-testid="edge-ask->__end__"]')).toHaveCount(1);
  await page.getByRole("tab", { name: "State" }).first().click();
  await app.id("add-key").click();
  await expect(page.locator("[data-key] input:focus")).toHaveCount(1);
  await page.keyboard.type("name");
  await page.keyboard.press("Enter");
  await expect(app.id("state-key-name")).toBeVisible();
  await app.node("ask").click();
  await app.id("field-/config/question").locator(".cm-content").click();
  await page.keyboard.type("What is your name?");
  const output = app.id("field-/config/into");
  await expect(app.id("inspector")).toContainText("Output key");
  await output.locator("input, button").first().click();
  await page.getByRole("option", { name: "name" }).click();
  await app.id("use-debug").click();
  await page.keyboard.press("F5");
  await app.status("asking");
  await app.id("answer-banner").locator("textarea, input").first().fill("Ada");
  await app.id("answer-submit").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("name")).toContainText("Ada");
  await expect(app.id("checkpoint").first()).toBeVisible();
});
