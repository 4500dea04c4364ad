/** What another program does on the same data folder is seen in an open page, without anything being asked of the page. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
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

const target = process.env.CARGO_TARGET_DIR ?? resolve(import.meta.dirname, "../../target");
const binary = join(target, "debug/superstep");
const onData = (app: Superstep) => ({ ...process.env, SUPERSTEP_DATA: app["data"] });

/** Starts the command line on the data folder of the server. */
const begin = (app: Superstep, ...args: string[]): ChildProcess => spawn(binary, args, { env: onData(app), stdio: "ignore" });

/** Runs the command line on the data folder of the server. */
function superstep(app: Superstep, code: number, ...args: string[]): void {
  let ended: unknown = 0;
  try {
    execFileSync(binary, args, { env: onData(app), stdio: "pipe" });
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
  await app.showState();
  await expect(app.key("verdict")).toContainText("yes", SECOND);
});

test("tokens of a run of the command line are seen as they come, and it is stopped from the page", async ({ app }) => {
  const words = Array.from({ length: 600 }, (_, n) => `word${n}`).join(" ");
  const config = { model: "scripted", prompt: "Talk", into: "said", pace_ms: 200, script: [{ say: words }] };
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Talk",
    state: { said: { type: "string" } },
    nodes: { talk: { kind: "model", config } },
    edges: [
      { from: "__start__", to: "talk" },
      { from: "talk", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  const command = begin(app, "run", file, "--thread", "from-outside", "--input", "{}");
  const ended = new Promise<number | null>((done) => command.once("exit", done));
  await app.id("thread").click();
  await app.status("running");
  await expect(app.node("talk")).toHaveAttribute("data-state", "running");
  // The node still speaks: what it says is in no checkpoint.
  await app.page.getByRole("tab", { name: "Stream", exact: true }).click();
  await expect(app.id("stream")).toContainText(/word\d+ word\d+ word\d+/);
  const last = async () => Number(/.*word(\d+) /.exec((await app.id("stream").textContent()) ?? "")?.[1] ?? 0);
  const then = await last();
  await expect.poll(last).toBeGreaterThan(then + 5);
  expect(command.exitCode, "the command still runs").toBeNull();
  await app.id("run-stop").click();
  expect(await ended, "it was stopped, not taken over").toBe(130);
  await app.status("stopped");
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

test("edits of two windows in one graph are joined, and asked about where both changed the same", async ({ app, page }) => {
  const note = (text: string) => ({ kind: "assign", config: { set: { verdict: `'${text}'` } } });
  const nodes = { review: graph.nodes.review, first: note("a"), second: note("b") };
  const file = await app.openGraph({ ...graph, nodes });
  const { graphId, records } = await app.rpc<{ graphId: string; records: { id: string; value: unknown }[] }>("graph.open", {
    path: file,
  });
  const described = (id: string, description: string) => ({ ...(records.find((record) => record.id === id)?.value as object), description });
  /** The other window, whose edits come at a revision that this one has not seen. */
  const elsewhere = async (id: string, to: object) => {
    const view = await app.rpc<{ rev: number; records: typeof records }>("graph.get", { graphId });
    const from = view.records.find((record) => record.id === id)?.value;
    await app.rpc("graph.apply", { graphId, baseRev: view.rev, ops: [{ id, from, to }] });
  };
  const stored = async (id: string) =>
    (await app.rpc<{ records: typeof records }>("graph.get", { graphId })).records.find((record) => record.id === id)?.value;
  const question = app.id("field-/config/question").getByRole("textbox");

  await app.node("review").click();
  await elsewhere("node:first", described("node:first", "theirs"));
  await question.fill("Mine?");
  await expect(page.getByText("Changed outside this window")).toBeVisible();
  await expect.poll(() => stored("node:first")).toEqual(described("node:first", "theirs"));
  await expect.poll(async () => JSON.stringify(await stored("node:review"))).toContain("Mine?");
  await expect(question).toHaveText("Mine?");

  await elsewhere("node:review", described("node:review", "theirs"));
  await question.fill("Mine again?");
  await expect(app.id("elsewhere")).toContainText("review");
  await app.id("elsewhere-mine").click();
  await expect(app.id("elsewhere")).toHaveCount(0);
  await expect.poll(async () => JSON.stringify(await stored("node:review"))).toContain("Mine again?");
  await app.node("first").click();
  await page.keyboard.press("Control+z");
  await expect.poll(() => stored("node:review"), "undo brings theirs back").toEqual(described("node:review", "theirs"));

  // The other window saves and edits; this one is looked at again.
  await elsewhere("node:second", described("node:second", "seen at once"));
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(page.getByText("Changed outside this window").last()).toBeVisible();
});

test("a graph reverted in one window is its file in the other, and undo brings the changes back in both", async ({ app, page }) => {
  const path = await app.openGraph(graph);
  const stored = async () => JSON.stringify(await app.rpc("graph.open", { path }));
  const question = (window: Page) => window.locator('[data-testid="field-/config/question"]').getByRole("textbox");
  const look = (window: Page) => window.evaluate(() => window.dispatchEvent(new Event("focus")));
  await app.node("review").click();
  await question(page).fill("Mine?");
  await expect(app.id("save-state")).toHaveText("Unsaved changes");
  const other = await page.context().newPage();
  await other.goto(app["server"].url);
  await other.locator('[data-testid="node-review"]').click();
  await expect(question(other)).toHaveText("Mine?");

  await page.keyboard.press("Escape");
  await app.command("revert to saved");
  await expect(page.getByText("Reverted to the saved file")).toBeVisible();
  await expect(question(page)).toHaveText("Pay?");
  await app.picture("reverted");
  await look(other);
  await expect(other.getByText("Changed outside this window")).toBeVisible();
  await expect(question(other)).toHaveText("Pay?");

  await app.id("canvas").focus();
  await page.keyboard.press("Control+z");
  await expect(question(page)).toHaveText("Mine?");
  await expect.poll(stored).toContain("Mine?");
  await look(other);
  await expect(question(other)).toHaveText("Mine?");
  await other.close();
});

test("a kill takes no edit of two windows, and what was typed meanwhile is joined", async ({ app, page }) => {
  const ask = (question: string) => ({ kind: "ask", config: { question, into: "verdict" } });
  const path = await app.openGraph({ ...graph, nodes: { review: ask("Pay?"), check: ask("Sure?") } });
  const onDisk = readFileSync(path, "utf8");
  const question = (window: Page) => window.locator('[data-testid="field-/config/question"]').getByRole("textbox");
  const select = (window: Page, node: string) => window.locator(`[data-testid="node-${node}"]`).click();
  const kept = async () => JSON.stringify(await app.rpc("graph.open", { path }));
  const other = await page.context().newPage();
  await other.goto(app["server"].url);
  await select(page, "review");
  await question(page).fill("Mine?");
  await expect.poll(kept).toContain("Mine?");
  await select(other, "check");
  await question(other).fill("Theirs?");
  await expect.poll(kept).toContain("Theirs?");

  await app.kill();
  for (const window of [page, other])
    await expect(window.locator('[data-testid="connection-lost"]')).toContainText("is not responding");
  await question(other).fill("Theirs, typed meanwhile?");
  await app.startAgain();
  for (const window of [page, other]) await expect(window.locator('[data-testid="connection-lost"]')).toHaveCount(0);
  await expect.poll(kept).toContain("Theirs, typed meanwhile?");
  expect(await kept()).toContain("Mine?");
  expect(readFileSync(path, "utf8"), "nobody saved").toBe(onDisk);

  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await select(page, "check");
  await expect(question(page)).toHaveText("Theirs, typed meanwhile?");
  await select(other, "review");
  await expect(question(other)).toHaveText("Mine?");
  await other.close();
});
