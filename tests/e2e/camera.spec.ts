/** The view of a graph that is opened: whole, with names that can be read, and nothing beside it that is empty. */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "./superstep";

const examples = readdirSync(resolve(import.meta.dirname, "../../graphs"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

test("every example opens whole, and its names are 11 pixels high or more", async ({ app, page }) => {
  expect(examples.length).toBeGreaterThan(10);
  for (const name of examples) {
    await app.open();
    if (name !== examples[0]) await page.getByRole("button", { name: "All graphs" }).click();
    await app.id(`example-${name}`).click();
    await expect(page.locator(".react-flow__node").first()).toBeVisible();
    await expect(app.id("inspector")).toHaveCount(0);
    const seen = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('[data-testid="canvas"]')?.getBoundingClientRect();
        const cards = [...document.querySelectorAll<HTMLElement>(".react-flow__node")];
        const names = [...document.querySelectorAll<HTMLElement>('[data-testid^="node-name-"]')];
        return {
          whole:
            canvas !== undefined &&
            cards.length > 2 &&
            cards.every((card) => {
              const box = card.getBoundingClientRect();
              return box.left >= canvas.left && box.right <= canvas.right && box.top >= canvas.top && box.bottom <= canvas.bottom;
            }),
          readable: names.every((each) => {
            const scale = each.getBoundingClientRect().height / each.offsetHeight;
            return parseFloat(getComputedStyle(each).fontSize) * scale >= 10.95;
          }),
        };
      });
    await expect.poll(seen, { message: name }).toEqual({ whole: true, readable: true });
    const pictures = process.env.SUPERSTEP_SHOTS;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `camera-${name}.png`) });
  }
});

test("the settings come with a selection and go with it, and the graph stays where it is", async ({ app, page }) => {
  await app.openExample("refund-desk");
  const inspector = app.id("inspector");
  await expect(inspector).toHaveCount(0);
  const before = await app.node("classify").boundingBox();
  await app.node("classify").click();
  await expect(inspector).toBeVisible();
  const after = await app.node("classify").boundingBox();
  expect(after?.x).toBeCloseTo(before?.x ?? 0, 0);
  expect(after?.width).toBeCloseTo(before?.width ?? 0, 0);

  // What the settings would cover moves out of their way.
  await page.keyboard.press("Escape");
  await expect(inspector).toHaveCount(0);
  await app.node("close").click();
  await expect(inspector).toBeVisible();
  await expect
    .poll(async () => {
      const [node, panel] = [await app.node("close").boundingBox(), await inspector.boundingBox()];
      return node !== null && panel !== null && node.x + node.width <= panel.x;
    })
    .toBe(true);

  // Opened by hand it stays, folded by hand too.
  await page.keyboard.press("Escape");
  await app.id("unfold-right").click();
  await expect(inspector).toBeVisible();
  await app.node("propose").click();
  await page.keyboard.press("Escape");
  await expect(inspector).toBeVisible();
});

test("in Debug every example is whole beside the panels, and what can be read of it is 11 pixels high or more", async ({ app, page }) => {
  for (const name of examples) {
    await app.open();
    if (name !== examples[0]) await page.getByRole("button", { name: "All graphs" }).click();
    await app.id(`example-${name}`).click();
    await expect(page.locator(".react-flow__node").first()).toBeVisible();
    await app.id("use-debug").click();
    for (const side of ["left", "right"]) {
      if ((await app.id(`unfold-${side}`).count()) > 0) await app.id(`unfold-${side}`).click();
      await expect(app.id(`panel-${side}`)).toBeVisible();
    }
    const seen = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('[data-testid="canvas"]')?.getBoundingClientRect();
        const cards = [...document.querySelectorAll<HTMLElement>(".react-flow__node")];
        const view = document.querySelector<HTMLElement>(".react-flow__viewport");
        const zoom = view === null ? 0 : new DOMMatrix(getComputedStyle(view).transform).a;
        const small = (each: Element) => {
          const style = getComputedStyle(each);
          const hidden = style.opacity === "0" || style.color === "rgba(0, 0, 0, 0)" || style.visibility === "hidden";
          return !hidden && parseFloat(style.fontSize) * zoom < 10.95;
        };
        return {
          whole:
            canvas !== undefined &&
            cards.length > 2 &&
            cards.every((card) => {
              const box = card.getBoundingClientRect();
              return box.left >= canvas.left && box.right <= canvas.right && box.top >= canvas.top && box.bottom <= canvas.bottom;
            }),
          names: [...document.querySelectorAll('[data-testid^="node-name-"]')].filter(small).map((each) => each.textContent),
          labels: [...document.querySelectorAll('[data-testid^="edge-label-"], [data-testid^="way-"][data-testid$="-label"]')]
            .filter(small)
            .map((each) => each.textContent),
        };
      });
    await expect.poll(seen, { message: name }).toEqual({ whole: true, names: [], labels: [] });
    const pictures = process.env.SUPERSTEP_SHOTS;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `camera-debug-${name}.png`) });
  }
});

test("the ways of a small card are told while it is pointed at, and nothing moves for them", async ({ app, page }) => {
  await app.openExample("refund-desk");
  await app.id("use-debug").click();
  await expect.poll(async () => Number(/\d+/.exec((await app.id("zoom-value").textContent()) ?? "")?.[0])).toBeLessThan(55);
  const ways = app.id("ways-review");
  await expect(ways).toBeHidden();
  const before = await app.node("review").boundingBox();
  await app.node("review").hover();
  await expect(ways).toContainText("approve→ pay");
  expect(await app.node("review").boundingBox()).toEqual(before);
  const height = await ways.locator("li").first().evaluate((each) => each.getBoundingClientRect().height);
  expect(height, "of a line of 12 pixels").toBeGreaterThan(16);
  await app.picture("ways-small", ["light", "dark"]);
  await app.id("run-status").or(app.id("panel-left")).first().hover();
  await expect(ways).toBeHidden();
});
