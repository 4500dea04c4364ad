/** Versions: what a thread ran on is kept, shown and compared when the graph moves on; going on with a changed graph asks first. */
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Words",
  state: { word: { type: "string" }, log: { type: "array", reducer: "append" } },
  examples: [{ name: "Nothing yet", input: { log: [] } }],
  nodes: {
    first: { kind: "assign", config: { set: { log: "'first'" } } },
    review: {
      kind: "ask",
      config: { question: "Send it?", choices: [{ value: "yes", label: "Yes" }, { value: "no", label: "No" }], into: "word" },
    },
    last: { kind: "assign", config: { set: { log: "'last'" } } },
  },
  edges: [
    { from: "__start__", to: "first" },
    { from: "first", to: "review" },
    { from: "review", to: "last" },
    { from: "last", to: "__end__" },
  ],
  layout: { first: [200, 100], review: [480, 100], last: [760, 100] },
};

test("a thread opens with the drawing that it ran on, and goes on as a person chooses", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("graph-moved")).toHaveCount(0);

  // The node that waits gets another name.
  await app.id("use-design").click();
  await app.node("review").click();
  await page.keyboard.press("F2");
  await app.id("node-rename").fill("approve");
  await page.keyboard.press("Enter");
  await expect(app.node("approve")).toBeVisible();

  // The thread says so, and shows what it ran on with what the run did.
  await app.id("use-debug").click();
  await expect(app.id("graph-moved")).toContainText("This thread ran on an earlier version of the graph.");
  await app.id("graph-moved-show").click();
  await expect(app.id("version-canvas")).toBeVisible();
  await expect(app.id("nested-node-review")).toHaveAttribute("data-state", "asking");
  await app.picture("version-of-a-thread", ["light", "dark"]);

  // Compared with now: signs and colours, in both directions.
  await app.id("version-compare").click();
  await expect(app.id("nested-node-review")).toHaveAttribute("data-diff", "removed");
  await expect(app.id("nested-node-approve")).toHaveAttribute("data-diff", "added");
  await expect(app.id("nested-node-first")).not.toHaveAttribute("data-diff", /./);
  await app.picture("version-compared", ["light", "dark"]);
  await app.id("version-current").click();
  await expect(app.node("approve")).toBeVisible();

  // Answering asks first: the next task would be lost.
  await app.id("answer-choice").first().click();
  const report = app.id("hot-edit");
  await expect(report).toContainText("review");
  await expect(app.id("hot-edit-map-review")).toContainText("approve");
  await app.picture("hot-edit", ["light", "dark"]);
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 1024, height: 700 });
  const rows = await report.locator("footer button").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => Math.round(top + height / 2)));
  expect(new Set(rows).size, "one row of buttons").toBe(1);
  await app.picture("hot-edit-small", ["light", "dark"]);
  await page.setViewportSize(size);
  await page.keyboard.press("Escape");
  await expect(report).toHaveCount(0);
  await app.status("asking");
  await app.id("answer-choice").first().click();
  await app.id("hot-edit-recorded").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("word")).toContainText("yes");
});

test("versions are listed, named, compared and restored", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-design").click();
  await app.node("last").click();
  await page.keyboard.press("Delete");
  await expect(app.node("last")).toHaveCount(0);

  await app.node("first").click();
  await app.id("tab-versions").click();
  const ran = app.id("versions").locator("li", { hasText: "1 thread" });
  await expect(ran).toHaveCount(1);
  await ran.getByRole("button", { name: /^Name the version/ }).click();
  await app.id("version-name-field").fill("Before the cut");
  await app.id("version-note-field").fill("Asks before it sends.\n\nThe last node is cut next.");
  await app.picture("version-note-dialog", ["light", "dark"]);
  await app.id("version-name-field").press("Enter");
  await expect(ran).toContainText("Before the cut");
  const note = ran.getByText("Asks before it sends.");
  await expect(note).toHaveAttribute("title", /The last node is cut next\./);
  await expect(ran).not.toContainText("The last node is cut next.");

  // Without its note, and with it again.
  await ran.getByRole("button", { name: /^Name the version/ }).click();
  await app.id("version-note-field").fill("");
  await app.id("version-name-field").press("Enter");
  await expect(note).toHaveCount(0);
  await ran.getByRole("button", { name: /^Name the version/ }).click();
  await app.id("version-note-field").fill("Asks before it sends.\n\nThe last node is cut next.");
  await app.id("version-name-field").press("Enter");
  await expect(note).toBeVisible();

  await ran.getByRole("button", { name: "Compare" }).click();
  await expect(app.id("version-diff-node:last")).toHaveAttribute("data-mark", "removed");
  await expect(app.id("nested-node-last")).toHaveAttribute("data-diff", "removed");
  await app.picture("versions-panel", ["light", "dark"]);
  // In a small window the names of its nodes can be read, and its own.
  await page.setViewportSize({ width: 1024, height: 700 });
  const name = app.id("nested-node-last").getByText("last", { exact: true });
  await expect.poll(async () => (await name.boundingBox())?.height ?? 0).toBeGreaterThanOrEqual(12);
  const words = app.id("version-bar").getByText("Version: Before the cut");
  expect(await words.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  await page.setViewportSize({ width: 1440, height: 900 });

  await ran.getByRole("button", { name: /^Restore/ }).click();
  await expect(app.node("last")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(app.node("last")).toHaveCount(0);
});
