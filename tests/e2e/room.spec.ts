/** How the window uses its room: what stays in reach in a small window, and what a large one is filled with. */
import { expect, test } from "./superstep";

const SMALL = { width: 1024, height: 700 };

test("tabs that find no room are in a menu, and the shown one is never there", async ({ app, page }) => {
  await page.setViewportSize(SMALL);
  await app.openExample("counter");
  await app.id("use-debug").click();
  // Folded, the row is one of buttons.
  const bar = app.id("bottom-bar");
  await bar.getByTestId("more-tabs").click();
  await page.getByTestId("menu-problems").click();
  const panel = app.id("panel-bottom");
  const tabs = panel.getByRole("tablist");
  const problems = tabs.getByRole("tab", { name: /Problems/ });
  await expect(problems).toHaveAttribute("aria-selected", "true");
  await expect(problems).toBeInViewport({ ratio: 1 });
  await app.picture("tabs-small", ["light", "dark"]);

  // The menu has the others, and what is chosen there is shown and has the focus.
  await panel.getByTestId("more-tabs").click();
  await page.getByTestId("menu-find").click();
  const find = tabs.getByRole("tab", { name: "Find" });
  await expect(find).toHaveAttribute("aria-selected", "true");
  await expect(find).toBeFocused();
  await expect(find).toBeInViewport({ ratio: 1 });

  // Arrow keys come to every tab, also to those that are in the menu.
  const names = ["Timeline", "Forks", "Trace", "What if", "Stream", "Messages", "Problems", "Find"];
  for (const name of names) {
    await page.keyboard.press("ArrowRight");
    const tab = tabs.getByRole("tab", { name: new RegExp(`^${name}`) });
    await expect(tab).toBeFocused();
    await expect(tab).toHaveAttribute("aria-selected", "true");
    await expect(tab).toHaveCSS("opacity", "1");
    await expect(tab).toBeInViewport({ ratio: 1 });
  }
  await page.keyboard.press("Escape");

  // With room for all there is no menu.
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(panel.getByTestId("more-tabs")).toHaveCount(0);
  for (const name of names) await expect(tabs.getByRole("tab", { name: new RegExp(`^${name}`) })).toBeInViewport({ ratio: 1 });
});
