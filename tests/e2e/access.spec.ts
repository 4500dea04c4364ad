/** Each view as assistive technology finds it: names, roles, headings and contrast, light and dark. */
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test, type Superstep } from "./superstep";

/** How large something is to be touched is left out: the canvas has every size. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

async function looksRight(app: Superstep, view: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await app.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expect(app.page.locator("html")).toHaveAttribute("data-theme", colorScheme);
    // What fades between the schemes has neither's contrast.
    // An animation without an end, or a page that draws nothing for a while, is not waited for.
    await app.page.evaluate(() => {
      const faded = Promise.allSettled(document.getAnimations().map((each) => each.finished));
      return Promise.race([faded, new Promise((resolve) => setTimeout(resolve, 3_000))]).then(() => undefined);
    });
    const { violations } = await new AxeBuilder({ page: app.page }).withTags(RULES).analyze();
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any, all, none }) => {
        const why = [...any, ...all, ...none].map(({ message }) => message).join("; ");
        return `${id}: ${html.slice(0, 200)} ${why}`;
      }),
    );
    expect.soft(found, `${view}, ${colorScheme}`).toEqual([]);
  }
}

test("a graph is made and run", async ({ app }) => {
  await app.open();
  await expect(app.id("start-screen")).toBeVisible();
  await looksRight(app, "start");
  await app.openExample("refund-desk");
  await app.node("propose").click();
  await looksRight(app, "design");
  await app.id("use-debug").click();
  await looksRight(app, "run");
  await app.id("run").click();
  await app.status("asking");
  // They are pale until they can be chosen.
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await looksRight(app, "asking");
  await app.checkpoint(1, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await app.key("days").hover();
  await app.key("days").locator('[data-testid="state-edit"]').click();
  await looksRight(app, "editing the past");
  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(1);
  await looksRight(app, "inbox");
});

test("dialogs", async ({ app, page }) => {
  await app.openExample("memory-chat");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await page.keyboard.press("Control+k");
  await looksRight(app, "commands");
  await page.keyboard.type("Long-term memory");
  await page.keyboard.press("Enter");
  await app.id("memory-item").first().click();
  await looksRight(app, "memory");
  await page.keyboard.press("Escape");
  await app.command("Storage");
  await expect(page.getByRole("tab", { name: "Database" })).toBeVisible();
  await looksRight(app, "storage");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await expect(app.id("memory-settings").or(page.getByRole("tab", { name: "Connections" })).first()).toBeVisible();
  await looksRight(app, "settings");
});

test("what a run left, and a setting without a label of its own", async ({ app, page }) => {
  await app.openExample("memory-chat");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  for (const tab of ["trace", "forks", "stream", "messages"]) {
    await app.id("panel-bottom").getByTestId(`tab-${tab}`).click();
    await expect(app.id(tab)).toBeVisible();
    await looksRight(app, tab);
  }
  await page.getByRole("button", { name: "All graphs" }).click();
  await app.id("example-document-pipeline").click();
  await app.id("use-design").click();
  await app.node("each").click();
  await expect(app.id("inspector")).toBeVisible();
  await looksRight(app, "settings of a graph for each item");
});
