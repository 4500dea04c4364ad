/** What is added, before it is added: a pattern's picture, what it does and what it brings. */
import { expect, test } from "./superstep";

const graph = { format: "superstep/1", name: "Empty", state: {}, nodes: {}, edges: [] };

test("a pattern shows its picture in the palette and in the search", async ({ app, page }) => {
  await app.openGraph(graph);
  const pattern = page.locator('[data-testid^="pattern-"]').first();
  await pattern.scrollIntoViewIfNeeded();
  await pattern.hover();
  const preview = app.id("palette-preview");
  await expect(preview).toBeVisible();
  await expect(preview.locator("svg rect").first()).toBeAttached();
  await expect(preview).toContainText("Nodes:");
  await app.picture("pattern-preview", ["light", "dark"]);
  await page.mouse.move(700, 300);
  await expect(preview).toHaveCount(0);

  await app.id("canvas").press("Tab");
  await page.keyboard.type("counter");
  await expect(app.id("node-search").getByTestId("palette-preview")).toContainText("State keys: limit");
  await app.picture("pattern-search", ["light"]);
  await page.keyboard.press("Enter");
  await expect(app.node("increment")).toBeVisible();
});
