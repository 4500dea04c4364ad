/** A window that is touched: long presses open menus, two fingers pan and zoom, and what is pressed is large enough. */
import type { CDPSession } from "@playwright/test";
import { expect, test } from "./superstep";

test.use({ hasTouch: true, viewport: { width: 1024, height: 700 } });

const graph = {
  format: "superstep/1",
  name: "Touched",
  state: { n: { type: "integer" } },
  nodes: { one: { kind: "assign", config: { set: { n: "1" } } }, two: { kind: "assign", config: { set: { n: "2" } } } },
  edges: [
    { from: "__start__", to: "one" },
    { from: "one", to: "two" },
    { from: "two", to: "__end__" },
  ],
  layout: { __start__: [0, 20], one: [120, 0], two: [120, 160], __end__: [400, 180] },
};

interface Finger {
  readonly x: number;
  readonly y: number;
}

class Touch {
  constructor(private readonly cdp: CDPSession) {}
  private send(type: "touchStart" | "touchMove" | "touchEnd", fingers: readonly Finger[]): Promise<unknown> {
    return this.cdp.send("Input.dispatchTouchEvent", { type, touchPoints: fingers.map(({ x, y }, id) => ({ x, y, id })) });
  }
  async press(at: Finger, milliseconds: number): Promise<void> {
    await this.send("touchStart", [at]);
    await new Promise((done) => setTimeout(done, milliseconds));
    await this.send("touchEnd", []);
  }
  async drag(from: readonly Finger[], to: readonly Finger[]): Promise<void> {
    await this.send("touchStart", from);
    for (let step = 1; step <= 8; step += 1) {
      const between = from.map((start, id) => ({
        x: start.x + ((to[id]!.x - start.x) * step) / 8,
        y: start.y + ((to[id]!.y - start.y) * step) / 8,
      }));
      await this.send("touchMove", between);
    }
    await this.send("touchEnd", []);
  }
}

test("long presses, two fingers and taps", async ({ app, page }) => {
  await app.openGraph(graph);
  const touch = new Touch(await page.context().newCDPSession(page));
  const middle = async (name: string) => {
    const box = (await app.node(name).boundingBox())!;
    return { x: box.x + box.width / 2, y: box.y + 12 };
  };
  const zoom = async () => Number.parseInt((await app.id("zoom-value").innerText()).replace(/\D/g, ""), 10);
  await expect(app.node("one")).toBeVisible();

  // Two fingers that move together pan, and apart zoom.
  const before = await middle("one");
  const start = await zoom();
  await touch.drag([{ x: 500, y: 560 }, { x: 560, y: 560 }], [{ x: 540, y: 520 }, { x: 600, y: 520 }]);
  await expect.poll(async () => Math.round((await middle("one")).x - before.x)).toBeGreaterThan(20);
  expect(Math.abs((await zoom()) - start)).toBeLessThan(5);
  await touch.drag([{ x: 520, y: 560 }, { x: 560, y: 560 }], [{ x: 480, y: 560 }, { x: 600, y: 560 }]);
  await expect.poll(zoom).toBeGreaterThan(start + 20);
  await expect(page.getByRole("menu")).toHaveCount(0);

  await app.id("zoom-fit").tap();
  await page.waitForTimeout(500);
  await page.touchscreen.tap((await middle("two")).x, (await middle("two")).y);
  await expect(app.id("inspector-name")).toHaveValue("two");

  // Long presses.
  await touch.press(await middle("one"), 900);
  await expect(page.getByRole("menuitem", { name: "Duplicate" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toHaveCount(0);
  await touch.press({ x: 420, y: 600 }, 900);
  await expect(page.getByRole("menuitem", { name: /^Paste/ }).first()).toBeVisible();
  await page.keyboard.press("Escape");

  // A finger drags a node.
  const from = await middle("one");
  await touch.drag([from], [{ x: from.x + 60, y: from.y + 40 }]);
  await expect.poll(async () => Math.round((await middle("one")).x - from.x)).toBeGreaterThan(30);
});

for (const [width, height] of [[1024, 700], [800, 600]] as const)
  test(`at ${width} × ${height} everything is in the window and large enough`, async ({ app, page }) => {
    await page.setViewportSize({ width, height });
    await app.openGraph(graph);
    await app.node("one").click();
    if (width < 900) {
      // The nodes make room for the graph until they are asked for.
      await expect(app.id("palette")).toHaveCount(0);
      await app.id("unfold-left").tap();
      await expect(app.id("palette")).toBeVisible();
    }
    for (const use of ["design", "debug", "approve"]) {
      await app.id(`use-${use}`).click();
      await page.waitForTimeout(300);
      await app.picture(`touch-${width}-${use}`, ["light"]);
      const wrong = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("button, [role=tab], [role=radio]")].flatMap((each) => {
          const { left, top, right, bottom, width, height } = each.getBoundingClientRect();
          if (width === 0 || height === 0 || each.closest("[aria-hidden=true]") || getComputedStyle(each).visibility === "hidden") return [];
          const name = each.getAttribute("aria-label") ?? each.textContent;
          const within = each.closest(".react-flow, [class*='overflow-y-auto']") !== null;
          if (!within && (left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1)) return [`${name} is outside`];
          // What lies at the middle of each side of a square of 24 pixels is the button, where nothing else stands in it.
          const small = (width < 24 || height < 24) && each.closest(".react-flow") === null;
          return small ? [`${name} is ${Math.round(width)} × ${Math.round(height)}`] : [];
        }),
      );
      expect([...new Set(wrong)], `${use} at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });
