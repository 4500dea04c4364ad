/** A file that is no graph is shown as what it is, and nothing but its text is written over it. */
import { readFileSync } from "node:fs";
import { expect, test } from "./superstep";

const GRAPH = {
  format: "superstep/1",
  name: "Mended",
  state: {},
  nodes: { only: { kind: "code", config: { language: "javascript", code: "return {}" } } },
  edges: [
    { from: "__start__", to: "only" },
    { from: "only", to: "__end__" },
  ],
};

test("a file with a comma missing is corrected where it is wrong, and then is a graph", async ({ app, page }) => {
  const whole = JSON.stringify(GRAPH, null, 2);
  const broken = whole.replace(",", "");
  const file = app.writeText("graphs/story/graph.json", broken);
  await app.open();
  await expect(app.id("shell")).toBeVisible();
  await page.keyboard.press("Control+o");
  await app.id("file-path").fill(file);
  await page.keyboard.press("Enter");
  await expect(app.id("file-text")).toBeVisible();
  await expect(app.id("file-text-problem")).toContainText("line 3");
  await expect(app.id("file-text-editor")).toContainText('"Mended"');
  await expect(app.id("canvas")).toHaveCount(0);
  await app.picture("file-text", ["light", "dark"]);

  // Nothing can be added to it, and saving keeps every byte.
  await page.keyboard.press("Control+s");
  expect(readFileSync(file, "utf8")).toBe(broken);

  const editor = app.id("file-text-editor").getByRole("textbox");
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(whole);
  await expect(app.id("file-text-problem")).toContainText("JSON again");
  expect(readFileSync(file, "utf8"), "not saved yet").toBe(broken);
  await page.keyboard.press("Control+s");
  await expect(app.node("only")).toBeVisible();
  await expect(app.id("graph-name")).toHaveText("Mended");
  expect(readFileSync(file, "utf8")).toBe(whole);
});

test("the work of another builder is named, and stays as it is", async ({ app, page }) => {
  const text = JSON.stringify({ nodes: [{ id: "1", typeVersion: 1, type: "n8n-nodes-base.start" }], connections: {} });
  const file = app.writeText("graphs/story/n8n.json", text);
  await app.open();
  await expect(app.id("shell")).toBeVisible();
  await page.keyboard.press("Control+o");
  await app.id("file-path").fill(file);
  await page.keyboard.press("Enter");
  await expect(app.id("file-text-problem")).toContainText("n8n");
  await page.keyboard.press("Control+s");
  await app.id("file-text-new").click();
  await expect(app.id("canvas")).toBeVisible();
  expect(readFileSync(file, "utf8")).toBe(text);
});
