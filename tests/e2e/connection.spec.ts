/** The server is killed and started again under an open page: without a reload everything goes on where it was. */
import { expect, test, type Superstep } from "./superstep";

const desk = {
  format: "superstep/1",
  name: "Slow desk",
  state: { note: { type: "string" }, word: { type: "string" } },
  nodes: {
    look: { kind: "assign", config: { set: { note: "'seen'" } } },
    wait: { kind: "delay", config: { seconds: "20" } },
    ask: { kind: "ask", config: { question: "What shall it say?", into: "word" } },
  },
  edges: [
    { from: "__start__", to: "look" },
    { from: "look", to: "wait" },
    { from: "wait", to: "ask" },
    { from: "ask", to: "__end__" },
  ],
  examples: [{ name: "one", input: { note: "one" } }],
};

const openDesk = (app: Superstep, seconds: number) =>
  app.openGraph({ ...desk, nodes: { ...desk.nodes, wait: { kind: "delay", config: { seconds: String(seconds) } } } });

async function rename(app: Superstep, name: string): Promise<void> {
  await app.id("graph-name").click();
  await app.id("graph-name-input").fill(name);
  await app.page.keyboard.press("Enter");
  await expect(app.id("graph-name")).toHaveText(name);
}

const lost = (app: Superstep) => app.id("connection-lost");

test("killed in the middle of a run and started again, the page goes on by itself", async ({ app, page }) => {
  await openDesk(app, 20);
  await rename(app, "Edited and kept");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("running");
  await expect(app.node("wait")).toHaveAttribute("data-state", "running");

  await app.kill();
  await expect(lost(app)).toContainText("is not responding");
  await app.status("unknown");
  await expect(app.node("wait")).not.toHaveAttribute("data-state", "running");
  await expect(page.locator(".motion-safe\\:animate-spin")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
  // Typed while nobody hears it.
  await rename(app, "Typed meanwhile");
  await app.picture("away", ["light", "dark"]);

  await app.startAgain();
  await expect(lost(app)).toHaveCount(0);
  await app.status("stopped");
  await expect(app.id("graph-name")).toHaveText("Typed meanwhile");
  await expect(app.id("save-state")).toContainText("Unsaved");
  await expect(app.node("look")).toHaveAttribute("data-state", "done");
  await expect(page.getByText("is open")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
  await expect(app.id("thread")).toHaveCount(1);

  // It can be used as before: undo has its steps, the file takes the edits, the run goes on.
  await app.id("use-design").click();
  await app.id("undo").click();
  await expect(app.id("graph-name")).toHaveText("Edited and kept");
  await page.keyboard.press("Control+s");
  await expect(app.id("save-state")).toContainText("Saved");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
});

test("the moment of the past, a half-written answer and an edit of the state stay", async ({ app, page }) => {
  await openDesk(app, 0.01);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("answer-banner").locator("textarea, input").first().fill("Half a sent");
  await app.kill();
  await expect(lost(app)).toBeVisible();
  await app.startAgain();
  await expect(lost(app)).toHaveCount(0);
  await app.status("asking");
  await expect(app.id("answer-banner").locator("textarea, input").first()).toHaveValue("Half a sent");

  await app.checkpoint(0, "loop").first().click();
  await expect(app.id("past")).toBeVisible();
  await app.key("note").hover();
  await app.key("note").locator('[data-testid="state-edit"]').click();
  await app.id("state-edit-field").locator("textarea, input, .cm-content").first().fill("changed");
  await app.id("state-edit-done").click();
  await expect(app.id("edit-bar")).toBeVisible();
  await app.kill();
  await expect(lost(app)).toBeVisible();
  await app.startAgain();
  await expect(lost(app)).toHaveCount(0);
  await expect(app.id("past")).toBeVisible();
  await expect(app.node("look")).toHaveAttribute("data-state", "next");
  await expect(app.id("edit-bar")).toBeVisible();
  await expect(app.id("edit-preview")).toContainText("look");
  await app.id("edit-apply").click();
  await expect(app.checkpoint(1, "update")).toBeVisible();
});

test("a server with another token says what to do, and the page goes on once that is done", async ({ app, page }) => {
  await openDesk(app, 0.01);
  await rename(app, "Before the token");
  await app.kill();
  await expect(lost(app)).toBeVisible();
  await rename(app, "After the token");
  await app.startAgain("another-token-0123456789");
  await expect(lost(app)).toHaveAttribute("data-connection", "refused");
  await expect(lost(app)).toContainText("Open the address that it printed");
  await expect(app.id("graph-name")).toHaveText("After the token");
  await app.picture("token");
  // The window opens its graph again at the new server, with what was edited meanwhile.
  const opened = page.waitForResponse("**/rpc/graph.open");
  const other = await page.context().newPage();
  await other.goto(app["server"].url);
  await other.close();
  await expect(lost(app)).toHaveCount(0);
  await expect(app.id("graph-name")).toHaveText("After the token");
  await opened;
  await page.keyboard.press("Control+s");
  await expect(app.id("save-state")).toContainText("Saved");
});
