/** Shortcuts of one's own: changed in the settings, with conflicts said, kept over a reload, and reset. */
import { expect, test } from "./superstep";

test("a shortcut is changed, said where it is taken, kept and reset", async ({ app, page }) => {
  await app.openExample("refund-desk");
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Change shortcuts…" }).click();
  const row = (id: string) => app.id(`keyboard-${id}`);
  await row("view.minimap").getByTestId("keyboard-change").click();
  await page.keyboard.press("Control+s");
  await expect(row("view.minimap")).toContainText("Used by: Save");
  await app.picture("shortcuts", ["light", "dark"]);
  await page.keyboard.press("Alt+m");
  await expect(row("view.minimap")).toContainText("Alt");
  await expect(row("view.minimap").getByTestId("keyboard-reset")).toBeVisible();
  await page.keyboard.press("Escape");

  const minimap = app.id("canvas-tools").getByRole("button", { name: "minimap" });
  const shown = await minimap.getAttribute("aria-pressed");
  await app.id("canvas").click({ position: { x: 20, y: 20 } });
  await page.keyboard.press("m");
  await expect(minimap, "the old key does nothing").toHaveAttribute("aria-pressed", shown ?? "");
  await page.keyboard.press("Alt+m");
  await expect(minimap).not.toHaveAttribute("aria-pressed", shown ?? "");

  await page.reload();
  await expect(app.id("canvas")).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("minimap");
  await expect(app.id("command-view.minimap")).toContainText("Alt");
  await page.keyboard.press("Escape");
  const after = (await minimap.getAttribute("aria-pressed")) ?? "";
  await page.keyboard.press("Alt+m");
  await expect(minimap).not.toHaveAttribute("aria-pressed", after);

  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "Keyboard" }).click();
  await app.id("keyboard-reset-all").click();
  await page.keyboard.press("Escape");
  await app.id("canvas").click({ position: { x: 20, y: 20 } });
  await page.keyboard.press("m");
  await expect(minimap).toHaveAttribute("aria-pressed", after);
});
