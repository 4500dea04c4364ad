/** What another program does on the same data folder is seen in an open page, without anything being asked of the page. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Desk",
  state: { verdict: { type: "string" } },
  nodes: { review: { kind: "ask", config: { question: "Pay?", into: "verdict" } } },
  edges: [
    { from: "__start__", to: "review" },
    { from: "review", to: "__end__" },
  ],
};
const WAITS = 3;
const SECOND = { timeout: 1000 };

/** Runs the command line on the data folder of the server. */
function superstep(app: Superstep, code: number, ...args: string[]): void {
  const target = process.env.CARGO_TARGET_DIR ?? resolve(import.meta.dirname, "../../target");
  const env = { ...process.env, SUPERSTEP_DATA: app["data"] };
  let ended: unknown = 0;
  try {
    execFileSync(join(target, "debug/superstep"), args, { env, stdio: "pipe" });
  } catch (thrown) {
    ended = (thrown as { status: unknown }).status;
  }
  expect(ended, args.join(" ")).toBe(code);
}

test("a thread and an answer of the command line are seen within a second", async ({ app }) => {
  const file = await app.openGraph(graph);
  await app.id("use-debug").click();
  await expect(app.id("thread")).toHaveCount(0);

  superstep(app, WAITS, "run", file, "--thread", "from-outside", "--input", "{}");
  await expect(app.id("inbox-count")).toHaveText("1", SECOND);
  await expect(app.id("thread")).toHaveCount(1, SECOND);
  await app.id("thread").click();
  await app.status("asking");

  superstep(app, 0, "resume", "from-outside", "--answer", '"yes"');
  await expect(app.id("inbox-count")).toHaveCount(0, SECOND);
  await expect(app.id("run-status")).toHaveAttribute("data-status", "done", SECOND);
  await expect(app.key("verdict")).toContainText("yes", SECOND);
});

test("a breakpoint is the same in every window, and is there again after a crash", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  await app.id("use-debug").click();
  const other = await page.context().newPage();
  await other.goto(app["server"].url);
  await other.locator('[data-testid="use-debug"]').click();
  const points = (window: Page) => window.locator('[data-testid="breakpoints"] li').filter({ hasText: "review" });
  await expect(points(other)).toHaveCount(0);
  await app.node("review").click();
  await page.keyboard.press("F9");
  await expect(points(page)).toHaveCount(1);
  await expect(points(other)).toHaveCount(1, SECOND);
  await other.close();
  await app.kill();
  await app.startAgain();
  await page.reload();
  await app.openFile(file);
  await app.id("use-debug").click();
  await expect(points(page)).toHaveCount(1);
});
