/** How the window uses its room: what stays in reach in a small window, and what a large one is filled with. */
import type { Locator } from "@playwright/test";
import { openNasty } from "./fixtures/nasty/nasty";
import { expect, test, type Superstep } from "./superstep";

/** What the window keeps of itself for a reload; it is written when nothing has changed for a moment. */
interface Kept {
  readonly shownMap?: boolean;
  readonly panels?: Record<string, { size: number; auto?: boolean }>;
}

const kept = (app: Superstep) =>
  app.page.evaluate(() => JSON.parse(localStorage.getItem("superstep.session") ?? "{}") as Kept);

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

test("a small canvas has no minimap unless a person wants it, and a person's choice is kept", async ({ app, page }) => {
  await page.setViewportSize(SMALL);
  await app.openExample("refund-desk");
  const map = app.id("minimap");
  const zoomIn = async (times: number) => {
    for (let n = 0; n < times; n += 1) await app.id("zoom-in").click();
  };
  await zoomIn(4);
  await expect(map, "it would lie over cards").toHaveCount(0);
  await app.node("propose").click();
  await expect(app.id("inspector")).toBeVisible();
  await expect(map).toHaveCount(0);
  const toggle = app.id("canvas-tools").getByRole("button", { name: "Minimap" });
  await expect(toggle).toHaveAttribute("aria-pressed", "false");
  await toggle.click();
  await expect(map).toBeVisible();
  await expect.poll(async () => (await kept(app)).shownMap).toBe(true);
  await page.reload();
  await expect(toggle).toHaveAttribute("aria-pressed", "true");
  await toggle.click();
  await page.setViewportSize({ width: 1440, height: 900 });
  await zoomIn(6);
  await expect(map, "hidden by hand it stays so in a large window").toHaveCount(0);
});

test("what is selected moves out of the way of the settings, in a view that was moved by hand too", async ({ app, page }) => {
  await page.setViewportSize(SMALL);
  await app.openExample("refund-desk");
  const canvas = app.id("canvas");
  await expect(app.node("close")).toBeVisible();
  await app.id("zoom-in").click();
  await app.id("zoom-in").click();
  // By hand to where the settings will be.
  await canvas.hover();
  const right = async (what: Locator) => {
    const box = await what.boundingBox();
    return box === null ? 0 : box.x + box.width;
  };
  await page.mouse.wheel((await right(app.node("close"))) - (await right(canvas)) + 40, 0);
  await expect.poll(async () => Math.round((await right(canvas)) - (await right(app.node("close"))))).toBe(40);
  const inside = async () => {
    const panel = await app.id("panel-right").boundingBox();
    return panel !== null && (await right(app.node("close"))) <= panel.x;
  };
  await app.node("close").click();
  await expect(app.id("inspector")).toBeVisible();
  await expect.poll(inside).toBe(true);
  await app.picture("settings-small", ["light", "dark"]);
});

test("what is selected by dragging it ends beside its settings, wherever it is dropped", async ({ app, page }) => {
  await app.openExample("refund-desk");
  const name = app.id("node-name-classify");
  await expect(name).toBeVisible();
  const [from, canvas] = [(await name.boundingBox())!, (await app.id("canvas").boundingBox())!];
  await page.mouse.move(from.x + 6, from.y + from.height / 2);
  await page.mouse.down();
  // To where the settings will be; they wait until it is let go.
  await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + canvas.height - 140, { steps: 6 });
  await page.mouse.move(canvas.x + canvas.width - 200, canvas.y + canvas.height - 140, { steps: 6 });
  await expect(app.id("inspector")).toHaveCount(0);
  await page.mouse.up();
  await expect(app.id("inspector")).toBeVisible();
  await expect
    .poll(async () => {
      const [card, panel] = [await app.node("classify").boundingBox(), await app.id("panel-right").boundingBox()];
      return card !== null && panel !== null && card.x + card.width <= panel.x;
    })
    .toBe(true);
  await app.picture("dragged", ["light", "dark"]);
});

test("a thread is debugged in three sizes of window, and the canvas is the largest part of each", { tag: "@docs" }, async ({ app, page }) => {
  await openNasty(app);
  const parts = ["canvas", "panel-left", "panel-right", "panel-bottom"];
  const areas = async () => {
    const boxes = await Promise.all(parts.map(async (id) => ((await app.id(id).count()) === 0 ? null : app.id(id).boundingBox())));
    return boxes.map((box) => (box === null ? 0 : box.width * box.height));
  };
  const bottom = app.id("panel-bottom");
  for (const [width, height, name] of [
    [1024, 700, "small"],
    [1440, 900, "usual"],
    [2560, 1440, "large"],
  ] as const) {
    await page.setViewportSize({ width, height });
    // The threads make room in a small window: one is chosen already.
    await expect(app.id("panel-left")).toHaveCount(name === "small" ? 0 : 1);
    await expect(bottom.getByRole("tablist")).toHaveCount(name === "large" ? 2 : 1);
    const [canvas = 0, ...others] = await areas();
    for (const other of others) expect(canvas, name).toBeGreaterThan(other);
    await expect(page.getByTestId("state-key").first()).toBeInViewport({ ratio: 1 });
    await app.picture(`debug-${name}`, ["light", "dark"]);
  }

  // Timeline and trace are beside each other, each with its tabs; what is chosen in one leaves the other.
  await expect(app.id("timeline")).toBeVisible();
  await expect(app.id("trace")).toBeVisible();
  await bottom.getByTestId("tab-forks").click();
  await bottom.getByTestId("tab-messages").click();
  await expect(app.id("forks")).toBeVisible();
  await expect(app.id("messages")).toBeVisible();
  const between = page.getByRole("separator", { name: "Width of the right part of the bottom panel" });
  const before = (await between.boundingBox())?.x ?? 0;
  await between.focus();
  for (let n = 0; n < 10; n += 1) await page.keyboard.press("ArrowLeft");
  const moved = (await between.boundingBox())?.x ?? 0;
  expect(moved).toBeLessThan(before - 100);
  const width = Number(await between.getAttribute("aria-valuenow"));
  await expect.poll(async () => (await kept(app)).panels?.["beside"]?.size).toBe(width);
  await page.reload();
  await expect.poll(async () => (await between.boundingBox())?.x).toBe(moved);
  await expect(app.id("forks")).toBeVisible();

  // Opened by hand, the threads stay in a small window too.
  await page.setViewportSize(SMALL);
  await app.id("unfold-left").click();
  await expect(app.id("panel-left")).toBeVisible();
  await expect.poll(async () => (await kept(app)).panels?.["left"]).toMatchObject({ auto: false });
  await page.reload();
  await expect(app.id("panel-left")).toBeVisible();
});

test("the switch of the window's use stays in its place whatever a run has to say", async ({ app, page }) => {
  await app.openExample("refund-desk");
  const places = async () => {
    const all = await Promise.all(["design", "debug", "approve"].map((use) => app.id(`use-${use}`).boundingBox()));
    return all.map((box) => Math.round(box?.x ?? -1));
  };
  const sizes = [SMALL, { width: 1440, height: 900 }, { width: 1920, height: 1080 }];
  const before: number[][] = [];
  for (const size of sizes) {
    await page.setViewportSize(size);
    before.push(await places());
  }
  const stays = async (when: string) => {
    for (const [index, size] of sizes.entries()) {
      await page.setViewportSize(size);
      expect(await places(), `${when}, ${size.width} wide`).toEqual(before[index]);
      const [bar, last] = [await app.id("title-bar").boundingBox(), await app.id("palette-button").boundingBox()];
      expect((last?.x ?? 0) + (last?.width ?? 0), "all buttons are in the bar").toBeLessThanOrEqual(bar?.width ?? 0);
      if ((await app.id("run").count()) === 0) continue;
      const [approve, run] = [await app.id("use-approve").boundingBox(), await app.id("run").boundingBox()];
      expect(run?.x, "nothing lies over the switch").toBeGreaterThan((approve?.x ?? 0) + (approve?.width ?? 0));
    }
  };
  await app.id("run").click();
  await app.status("asking");
  await stays("asking");
  await app.picture("switch-small", ["light", "dark"]);
  await app.checkpoint(1, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await expect(page.getByRole("button", { name: /Back to now/ }), "once").toHaveCount(1);
  await stays("in the past");
  await app.id("run").click();
  await expect(app.id("past")).toHaveCount(0);
  await app.id("answer-choice").filter({ hasText: "Approve" }).click();
  await app.status("done");
  await stays("done");
  await app.id("use-approve").click();
  await stays("without controls");
});

test("the key on a choice takes it wherever the question is in view, and not while one types", async ({ app, page }) => {
  await app.openExample("refund-desk");
  await app.id("run").click();
  await app.status("asking");
  const choices = app.id("answer-choice");
  await expect(choices.first()).toBeEnabled();
  // In a field a number is a number.
  await app.id("state-inspector").getByRole("textbox").first().fill("2");
  await page.keyboard.press("2");
  await expect(choices.first()).toBeVisible();
  await app.id("canvas").focus();
  await expect(app.id("answer-form")).not.toHaveAttribute("data-guarded", /.*/);
  await page.keyboard.press("2");
  await expect(app.id("answer-banner")).toContainText("Refund 20 EUR of 40 EUR?");
  await expect(choices.first()).toBeEnabled();
  await expect(app.id("answer-form")).not.toHaveAttribute("data-guarded", /.*/);
  await page.keyboard.press("r");
  await app.status("done");
  await app.showState();
  await expect(app.key("outcome")).toContainText("declined");
});

test("the bottom panel is opened in each use for itself, and what Find looks in is read whole", async ({ app, page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await app.openExample("counter");
  await app.id("use-debug").click();
  if ((await app.id("bottom-bar").count()) > 0) await app.id("bottom-bar").locator('[data-testid="tab-timeline"]').click();
  await expect(app.id("panel-bottom")).toBeVisible();
  await app.id("use-design").click();
  await expect(app.id("bottom-bar"), "the canvas has its room").toBeVisible();
  await app.id("bottom-bar").locator('[data-testid="tab-find"]').click();
  const cut = () =>
    page
      .locator('[role="search"] [role="combobox"] > span:first-of-type')
      .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent));
  await expect(app.id("find-where")).toContainText("Everywhere");
  expect(await cut()).toEqual([]);
  await app.picture("find-filters", ["light", "dark"]);
  await app.id("use-debug").click();
  await app.id("fold-bottom").click();
  await app.id("use-design").click();
  await expect(app.id("find-where")).toBeVisible();
});
