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

test("what is typed into the palette right after the start runs when its dialog has come", async ({ app, page }) => {
  let deliver = () => {};
  const held = new Promise<void>((done) => (deliver = done));
  await page.route("**/assets/later-parts-*.js", async (route) => {
    await held;
    await route.continue();
  });
  await app.open();
  const palette = app.id("command-palette");
  await app.command("Dashboard");
  await expect(palette.getByRole("listbox")).toHaveAttribute("aria-busy", "true");
  await expect(palette.getByRole("combobox")).toHaveValue("Dashboard");
  deliver();
  await expect(app.id("overview")).toContainText("No runs");
  await expect(palette).toBeHidden();
});
