/** A window whose texts are drawn twice as large: 1440 × 900 is 720 × 450 then, the smallest one 512 × 350. */
import type { Locator } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const SIZES = [
  { width: 720, height: 450 },
  { width: 512, height: 350 },
] as const;

/** Controls that no pointer comes to: outside of the window, or cut off, and nothing around them scrolls there. */
const unreachable = (app: Superstep) =>
  app.page.evaluate(() => {
    const lost: string[] = [];
    const controls = "button, a[href], input, textarea, [role=tab], [role=radio], [role=combobox], [role=switch], [role=option], .cm-content";
    for (const each of document.querySelectorAll<HTMLElement>(controls)) {
      // What lies on the canvas is moved with it, and tabs without room are in a menu.
      if (!each.checkVisibility() || each.closest(".react-flow, [aria-hidden=true], [data-base-ui-inert]")) continue;
      const style = getComputedStyle(each);
      if (style.opacity === "0" || style.visibility === "hidden" || style.pointerEvents === "none") continue;
      const box = each.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue;
      // The part of it that is seen, when everything around it has scrolled to it.
      let { left, top, right, bottom } = box;
      for (let around = each.parentElement; around; around = around.parentElement) {
        const { overflowX, overflowY, position } = getComputedStyle(around);
        const frame = around.getBoundingClientRect();
        const scrolls = (overflow: string) => overflow === "auto" || overflow === "scroll";
        if (scrolls(overflowX)) [left, right] = [frame.left, Math.min(frame.right, frame.left + box.width)];
        else if (overflowX !== "visible") [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
        if (scrolls(overflowY)) [top, bottom] = [frame.top, Math.min(frame.bottom, frame.top + box.height)];
        else if (overflowY !== "visible") [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
        if (position === "fixed") break;
      }
      const seen = [Math.min(right, innerWidth) - Math.max(left, 0), Math.min(bottom, innerHeight) - Math.max(top, 0)] as const;
      // A line of text is enough of a field; of a button, most of it.
      if (seen[0] < Math.min(box.width * 0.7, 40) || seen[1] < Math.min(box.height * 0.7, 16)) {
        const name = each.getAttribute("aria-label") ?? (each.textContent.slice(0, 40) || each.tagName);
        lost.push(`${name}: ${[box.left, box.top, box.right, box.bottom].map(Math.round).join(" ")}`);
      }
    }
    if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
      lost.push("the page is larger than the window");
    return [...new Set(lost)];
  });

const reachable = async (app: Superstep, where: string) => expect.soft(await unreachable(app), where).toEqual([]);

/** A dialog lies in the window with all of its sides. */
async function inWindow(app: Superstep, dialog: Locator, where: string): Promise<void> {
  await expect(dialog).toBeVisible();
  const { width, height } = app.page.viewportSize()!;
  const box = (await dialog.boundingBox())!;
  expect.soft(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${where}: ${JSON.stringify(box)}`).toBe(true);
  await reachable(app, where);
}

for (const size of SIZES)
  test(`everything is in reach at ${size.width} × ${size.height}`, async ({ app, page }) => {
    const name = (what: string) => `zoom-${size.width}-${what}`;
    await page.setViewportSize(size);
    await app.open();
    await expect(app.id("start-screen")).toBeVisible();
    await reachable(app, "start");
    await app.picture(name("start"), ["light"]);
    await app.id("example-refund-desk").click();
    await expect(app.id("canvas")).toBeVisible();
    await reachable(app, "design");

    // Design: the settings of a node, to their end; the nodes and the bottom panel beside them.
    await app.node("propose").click();
    await expect(app.id("inspector")).toBeVisible();
    await reachable(app, "inspector");
    await app.picture(name("inspector"), ["light"]);
    const last = app.id("inspector").getByRole("button").last();
    await last.scrollIntoViewIfNeeded();
    await expect(last).toBeInViewport({ ratio: 0.9 });
    await page.keyboard.press("Escape");
    await app.id("canvas").click({ position: { x: 60, y: 60 } });
    await app.id("unfold-left").click();
    await expect(app.id("palette")).toBeVisible();
    await reachable(app, "palette of nodes");
    await app.picture(name("nodes"), ["light"]);
    await page.keyboard.press("Control+b");
    await page.keyboard.press("Control+j");
    await expect(app.id("panel-bottom")).toBeVisible();
    await reachable(app, "problems");
    await page.keyboard.press("Control+j");

    // Debug: a run that asks, its question answered, and what it came to.
    await app.id("use-debug").click();
    await reachable(app, "before a run");
    await app.picture(name("before"), ["light"]);
    await app.id("run").click();
    await app.status("asking");
    await expect(app.id("answer-banner")).toBeVisible();
    await reachable(app, "asking");
    await app.picture(name("asking"), ["light"]);
    await app.id("use-approve").click();
    await expect(app.id("question-detail")).toBeVisible();
    await reachable(app, "approve");
    await app.picture(name("approve"), ["light"]);
    await app.id("use-debug").click();
    await app.id("answer-banner").getByTestId("answer-choice").filter({ hasText: "Approve" }).click();
    await app.status("done");
    await reachable(app, "done");
    await app.showState();
    const key = app.key("outcome");
    // Rows move until all values are here.
    await expect(async () => {
      await key.scrollIntoViewIfNeeded();
      await expect(key).toBeInViewport({ ratio: 0.9, timeout: 1_000 });
    }).toPass({ timeout: 15_000 });
    await reachable(app, "state");
    await expect(app.id("timeline")).toBeVisible();
    await reachable(app, "timeline");
    await app.picture(name("timeline"), ["light"]);
    await app.checkpoint(1, "loop").click();
    await expect(app.id("past")).toBeVisible();
    await reachable(app, "past");
    await app.picture(name("past"), ["light"]);
    await page.keyboard.press("Control+Shift+Enter");

    // What opens above the window.
    await page.keyboard.press("Control+k");
    await inWindow(app, app.id("command-palette"), "command palette");
    await app.picture(name("commands"), ["light"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+,");
    const settings = app.id("settings");
    for (const tab of ["general", "keyboard", "connections", "storage", "trust"]) {
      const bar = settings.getByRole("tablist").first();
      if (await bar.getByTestId(`tab-${tab}`).isVisible()) await bar.getByTestId(`tab-${tab}`).click({ force: true });
      await inWindow(app, settings, `settings, ${tab}`);
    }
    await app.picture(name("settings"), ["light"]);
    await page.keyboard.press("Escape");
    for (const [keys, dialog] of [
      ["?", "help"],
      ["Control+Shift+f", "query"],
    ] as const) {
      await app.id("canvas").click({ position: { x: 60, y: 60 } });
      await page.keyboard.press(keys);
      await inWindow(app, page.getByRole("dialog"), dialog);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toHaveCount(0);
    }
    await app.id("app-menu").click();
    const menu = page.getByRole("menu");
    await expect(menu).toBeVisible();
    const end = menu.getByRole("menuitem").last();
    await end.scrollIntoViewIfNeeded();
    await expect(end).toBeInViewport({ ratio: 0.9 });
    await page.keyboard.press("Escape");
  });

test("in a browser there is no scale of ours: its keys and its zoom do it", async ({ app, page }) => {
  await app.open();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("interface");
  await expect(app.id("command-window.zoomIn")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await expect(app.id("settings")).toBeVisible();
  await expect(app.id("settings-scale")).toHaveCount(0);
});
