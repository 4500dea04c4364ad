/** Dialogs by the keyboard alone in small windows: in the window, with the focus in them, and back where it was. */
import type { Locator, Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

/** The smallest window, a small one, and 1440 × 900 with texts twice as large. */
const SIZES = [
  { width: 512, height: 700 },
  { width: 1024, height: 700 },
  { width: 720, height: 450 },
] as const;

const desk = {
  format: "superstep/1",
  name: "Dialogs",
  state: { request: { type: "string" }, draft: { type: "string" }, answer: { type: "string" } },
  nodes: {
    write: { kind: "assign", config: { set: { draft: "'Dear ' ~ state.request" } } },
    polish: { kind: "assign", config: { set: { answer: "state.draft ~ '!'" } } },
  },
  edges: [
    { from: "__start__", to: "write" },
    { from: "write", to: "polish" },
    { from: "polish", to: "__end__" },
  ],
  layout: { __start__: [40, 100], write: [200, 90], polish: [480, 90], __end__: [760, 100] },
  examples: [{ name: "one", input: { request: "tea" } }],
};

/** What has the focus, in words. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return "nothing";
    return at.getAttribute("data-testid") ?? at.getAttribute("aria-label") ?? `${at.tagName} ${at.textContent.slice(0, 30)}`;
  });

const isWithin = (dialog: Locator) => dialog.evaluate((each) => each.contains(document.activeElement));

/** The part of what has the focus that lies in the window and in the dialog. */
const focusSeen = (dialog: Locator) =>
  dialog.evaluate((around) => {
    const frame = around.getBoundingClientRect();
    const box = (document.activeElement ?? document.body).getBoundingClientRect();
    const high = Math.min(box.bottom, frame.bottom, innerHeight) - Math.max(box.top, frame.top, 0);
    return high >= Math.min(box.height, 16) - 1;
  });

interface Case {
  readonly name: string;
  /** By the keyboard. */
  open(): Promise<void>;
  readonly dialog: Locator;
  /** The field that is typed into at once. */
  readonly first: Locator;
  /** Types what can be saved; without it Enter is left out. */
  fill?(): Promise<void>;
}

async function check(app: Superstep, { name, open, dialog, first, fill }: Case): Promise<void> {
  const { page } = app;
  const { width, height } = page.viewportSize()!;
  const at = (what: string) => `${name} at ${width} × ${height}: ${what}`;
  const before = await page.evaluateHandle(() => document.activeElement);
  const back = () => page.evaluate((was) => document.activeElement === was, before);
  await open();
  await expect(dialog, at("opens")).toBeVisible({ timeout: 4_000 });
  const box = (await dialog.boundingBox())!;
  expect.soft(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, at(`lies in the window: ${JSON.stringify(box)}`)).toBe(true);
  await expect.soft(first, at("its first field has the focus")).toBeFocused({ timeout: 3_000 });
  const begin = await page.evaluateHandle(() => document.activeElement);
  const round: string[] = [];
  for (const key of ["Tab", "Shift+Tab"])
    for (let count = 0; count < 40; count += 1) {
      await page.keyboard.press(key);
      // What marks the dialog's end has the focus for a moment before it goes round.
      const message = at(`${key} stays inside after ${round.at(-1)}`);
      await expect.poll(() => isWithin(dialog), { message, timeout: 2_000 }).toBe(true);
      if (await page.evaluate((was) => document.activeElement === was, begin)) break;
      round.push(await focused(page));
      await expect.poll(() => focusSeen(dialog), { message: at(`${round.at(-1)} is in sight`), timeout: 2_000 }).toBe(true);
    }
  expect.soft(round.length, at("all of it is reached, and it ends where it began")).toBeLessThan(80);
  await page.keyboard.press("Escape");
  await expect(dialog, at("Escape closes it")).toBeHidden();
  await expect.soft.poll(back, { message: at(`the focus is back, not on ${await focused(page)}`), timeout: 2_000 }).toBe(true);
  if (fill === undefined) return;
  await before.evaluate((each) => (each as HTMLElement | null)?.focus());
  await open();
  await expect(dialog).toBeVisible();
  await expect(first, at("its first field has the focus again")).toBeFocused();
  await fill();
  await page.keyboard.press("Enter");
  await expect(dialog, at("Enter saves")).toBeHidden();
  await expect.soft.poll(() => page.evaluate(() => document.activeElement !== document.body), { message: at("the focus is somewhere after that"), timeout: 2_000 }).toBe(true);
}

for (const size of SIZES)
  test(`dialogs are used by the keyboard at ${size.width} × ${size.height}`, async ({ app, page }) => {
    await app.openGraph(desk);
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.status("done");
    await app.id("use-design").click();
    await page.setViewportSize(size);
    const command = async (words: string) => {
      await app.command(words);
    };
    const canvas = app.id("canvas");
    await canvas.focus();
    const field = (dialog: Locator) => dialog.locator("input, textarea, .cm-content").first();

    await check(app, {
      name: "command palette",
      open: () => page.keyboard.press("Control+k"),
      dialog: app.id("command-palette"),
      first: app.id("command-palette").getByRole("combobox"),
    });
    await canvas.focus();
    await check(app, {
      name: "price",
      open: () => command("Model price"),
      dialog: app.id("price"),
      first: field(app.id("price")),
      fill: async () => {
        await page.keyboard.type("office::small");
        await page.keyboard.press("Tab");
        await app.id("price-input").locator("input").or(app.id("price-input").and(page.locator("input"))).focus();
        await page.keyboard.type("1");
        await page.keyboard.press("Tab");
        await page.keyboard.type("2");
      },
    });
    await canvas.focus();
    await check(app, { name: "settings", open: () => page.keyboard.press("Control+,"), dialog: app.id("settings"), first: app.id("settings").locator(":focus") });
    await canvas.focus();
    await page.keyboard.press("Control+a");
    await check(app, {
      name: "extract",
      open: () => page.keyboard.press("Control+g"),
      dialog: app.id("extract"),
      first: app.id("extract-name"),
    });
    await check(app, {
      name: "block",
      open: () => command("save as block"),
      dialog: app.id("save-block"),
      first: app.id("save-block-name"),
      fill: () => page.keyboard.type("Both"),
    });
    await command("secrets");
    await expect(app.id("secrets")).toBeVisible();
    await app.id("secret-add").focus();
    await page.keyboard.press("Enter");
    await expect(app.id("secret-name")).toBeFocused();
    await page.keyboard.type("TEA_TOKEN");
    await page.keyboard.press("Tab");
    await page.keyboard.type("a-long-cup-of-tea");
    await page.keyboard.press("Enter");
    await expect(app.id("secret-TEA_TOKEN")).toBeVisible();
    await expect.soft.poll(() => isWithin(app.id("settings")), { message: "the focus stays in the settings after a secret is saved", timeout: 3_000 }).toBe(true);
    await page.keyboard.press("Escape");
    await expect(app.id("settings")).toBeHidden();

    // A name that the cursor is on.
    const unfold = async () => {
      if (await app.id("unfold-left").isVisible()) await app.id("unfold-left").press("Enter");
    };
    await unfold();
    await page.getByRole("tab", { name: "State" }).first().press("Enter");
    await page.locator('[data-key="request"] button').first().focus();
    await check(app, {
      name: "rename",
      open: () => page.keyboard.press("F2"),
      dialog: app.id("rename-everywhere"),
      first: app.id("rename-to"),
      fill: () => page.keyboard.type("wish"),
    });

    await app.id("use-debug").press("Enter");
    await unfold();
    await app.id("breakpoint-add").focus();
    const fromMenu = async (words: string) => {
      await page.keyboard.press("Enter");
      // A menu takes letters once the focus is in it, and Enter is for the item that they have led to.
      await expect(page.locator("[role=menu]:focus, [role=menu] :focus")).toHaveCount(1);
      await page.keyboard.type(words);
      await expect(page.locator("[role=menu] :focus")).toContainText(words);
      await page.keyboard.press("Enter");
    };
    const breakpoint = app.id("breakpoint-dialog");
    await check(app, {
      name: "breakpoint",
      open: () => fromMenu("When a condition"),
      dialog: breakpoint,
      first: breakpoint.locator(".cm-content"),
      fill: () => page.keyboard.type("state.answer == 'no'"),
    });
    await expect(app.id("breakpoint")).toHaveCount(1);

    const row = app.checkpoint(1);
    await row.focus();
    await row.locator('[data-testid="checkpoint-menu"]').focus();
    await check(app, {
      name: "bookmark",
      open: () => fromMenu("Bookmark"),
      dialog: app.id("storage-bookmark"),
      first: app.id("storage-bookmark-name"),
      fill: () => page.keyboard.type("Before tea"),
    });
    await expect(row).toContainText("Before tea");
  });
