/** The window in Chinese, and in a longer English that shows where a language has no room. */
import { expect, test, type Superstep } from "./superstep";

/** What stands in the graph file, and words that are the same in every language. */
const OWN = new Set(["Refund desk", "approve", "revise", "reject", "too many", "refund", "other", "JSON"]);

/** Texts of buttons, tabs and labels that are cut off and say so nowhere. */
const cutOff = (app: Superstep) =>
  app.page.evaluate(() => {
    const found: string[] = [];
    for (const each of document.querySelectorAll<HTMLElement>("button, [role=tab], label, h1, h2, h3")) {
      const style = getComputedStyle(each);
      const box = each.getBoundingClientRect();
      if (box.width === 0 || style.visibility === "hidden" || each.closest("[aria-hidden=true]")) continue;
      const isCut = each.scrollWidth > each.clientWidth + 1 && style.overflowX !== "visible";
      const says = style.textOverflow === "ellipsis" || each.title !== "" || each.getAttribute("aria-label") !== null;
      if (isCut && !says) found.push(each.textContent.slice(0, 60));
      // Nothing lies outside the window.
      if (box.right > window.innerWidth + 1 && box.left < window.innerWidth && !each.closest('[data-testid="canvas"]'))
        found.push(`${each.textContent.slice(0, 60)} ends at ${Math.round(box.right)} of ${window.innerWidth}`);
    }
    if (document.documentElement.scrollWidth > window.innerWidth) found.push("the page scrolls sideways");
    return found;
  });

/** Buttons, tabs, labels and headings in English, but for what the graph's author wrote. */
async function english(app: Superstep): Promise<string[]> {
  const texts = await app.page.evaluate(() => {
    const shown = [...document.querySelectorAll<HTMLElement>("button, [role=tab], label, h1, h2, h3")];
    return shown
      .filter((each) => each.checkVisibility() && !each.querySelector("button"))
      // Patterns are graphs with names of their own, choices are what a graph offers, captions are expressions of its routes.
      .filter((each) => !each.closest('[data-testid^="pattern-"], [data-testid="answer-choice"], [data-testid$="-caption"]'))
      .map((each) => each.innerText.trim())
      .filter((text) => /[a-z]{3}/i.test(text) && !/[\u4e00-\u9fff]/.test(text));
  });
  return texts.filter((text) => !OWN.has(text));
}

test("the settings speak Chinese: at once, in every part, and after a reload", async ({ app, page }) => {
  await app.openExample("refund-desk");
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "中文" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await app.picture("chinese-settings");
  await page.keyboard.press("Escape");
  await expect(app.id("use-design")).toHaveText("设计");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await expect(app.id("use-debug")).toHaveText("调试");
  await expect(app.node("propose")).toBeVisible();
  await app.picture("chinese-design", ["light", "dark"]);
  expect(await english(app)).toEqual([]);
  const drawn = page.locator(".react-flow__edge, .react-flow__node");
  const spoken = await drawn.evaluateAll((all) =>
    all.flatMap((each) => [each.getAttribute("aria-label"), each.getAttribute("aria-roledescription")]),
  );
  expect(spoken.filter((text) => text !== null && !/[\u4e00-\u9fff]/.test(text))).toEqual([]);
  expect(spoken).toContain("边");
  await app.goTo("propose");
  await app.picture("chinese-inspector");
  expect(await english(app)).toEqual([]);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.picture("chinese-debug", ["light", "dark"]);
  expect(await english(app)).toEqual([]);
  await app.id("use-approve").click();
  await expect(app.id("question-detail")).toBeVisible();
  await app.picture("chinese-approve");
  expect(await english(app)).toEqual([]);
});

for (const [width, height] of [
  [1024, 700],
  [1440, 900],
  [2560, 1440],
] as const) {
  test(`texts 40 % longer have room at ${width} × ${height}`, async ({ app, page }) => {
    await page.setViewportSize({ width, height });
    await app.open("?lang=pseudo");
    await expect(page.locator("html")).toHaveAttribute("lang", "en-XA");
    const parts: Record<string, string[]> = {};
    await app.picture(`longer-start-${width}`);
    parts.start = await cutOff(app);
    await app.id("example-refund-desk").click();
    await expect(app.id("canvas")).toBeVisible();
    parts.design = await cutOff(app);
    await app.picture(`longer-design-${width}`);
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.status("asking");
    parts.debug = await cutOff(app);
    await app.picture(`longer-debug-${width}`);
    await app.id("use-approve").click();
    await expect(app.id("question-detail")).toBeVisible();
    parts.approve = await cutOff(app);
    await app.picture(`longer-approve-${width}`);
    await page.keyboard.press("Control+,");
    await expect(page.getByRole("dialog")).toBeVisible();
    parts.settings = await cutOff(app);
    await app.picture(`longer-settings-${width}`);
    expect(parts).toEqual({ start: [], design: [], debug: [], approve: [], settings: [] });
  });
}

test("Enter that takes a word of an input method commits nothing", async ({ app, page }) => {
  await app.openExample("counter");
  await page.keyboard.press("Control+k");
  const palette = app.id("command-palette").getByRole("combobox");
  await palette.fill("Fit graph");
  // As an input method sends it: the key is its own, and what was composed stays.
  const take = (field: typeof palette) =>
    field.dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true });
  await take(palette);
  await expect(palette, "no command ran").toBeVisible();
  await page.keyboard.press("Enter");
  await expect(palette).toBeHidden();
  await app.id("node-name-increment").click();
  await page.keyboard.press("F2");
  const name = app.id("node-rename");
  await name.fill("计数");
  await take(name);
  await expect(name, "the name is still being written").toBeVisible();
  await name.press("Enter");
  await expect(app.node("计数")).toBeVisible();
});

test("problems of a graph are told in Chinese, and in the other language as soon as that is spoken", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Errors",
    state: { total: { type: "string", reducer: "add_messages" } },
    input: ["totl"],
    nodes: {
      first: { kind: "asign", config: {} },
      second: { kind: "assign", config: { set: { totl: "state.totl | uper" } }, retry: -1 },
      third: { kind: "ask", config: { question: "" } },
    },
    edges: [
      { from: "__start__", to: "first" },
      { from: "first", to: "secnd" },
      { from: ["first", "third"], to: "__end__" },
    ],
  });
  const problems = page.locator('[data-testid^="problem-"]:not([data-testid="problem-mend"])');
  const inLanguage = async (language: string) => {
    await page.keyboard.press("Control+,");
    await page.getByRole("tab", { name: language }).click();
    await page.keyboard.press("Escape");
  };
  const say = async () => {
    await expect(problems.first()).toBeVisible();
    // Code, and the stable names of the problems, are the same in every language.
    return problems.evaluateAll((all) =>
      all.map((each) => {
        const copy = each.cloneNode(true) as HTMLElement;
        for (const code of copy.querySelectorAll("code, svg")) code.remove();
        return copy.textContent.trim();
      }),
    );
  };
  await inLanguage("中文");
  await app.id("bottom-bar").getByRole("button", { name: /问题/ }).click();
  const chinese = await say();
  expect(chinese.length).toBeGreaterThan(8);
  for (const text of chinese) {
    expect(text).toMatch(/[\u4e00-\u9fff]/);
    expect(text, "no English words").not.toMatch(/[A-Za-z]{2,} [a-z]{2,}/);
  }
  await app.picture("chinese-problems", ["light", "dark"]);
  await inLanguage("English");
  const english = await say();
  expect(english.length).toBe(chinese.length);
  for (const text of english) expect(text).not.toMatch(/[\u4e00-\u9fff]/);
});
