/** The value of a watch or a state key in every row of the thread list. */
import { expect, test } from "./superstep";

test("a watch is a column of the thread list, computed for the rows that are seen", async ({ app, page }) => {
  const file = app.write("graphs/column/graph.json", {
    format: "superstep/1",
    name: "Column",
    state: { note: { type: "string" }, place: { type: "string" }, size: { type: "integer" } },
    nodes: { end: { kind: "assign", config: { set: { place: "'end of ' ~ state.note", size: "state.note|length" } } } },
    edges: [{ from: "__start__", to: "end" }],
    examples: [{ name: "one", input: { note: "one" } }],
  });
  await app.open();
  await app.openFile(file);
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
  for (let number = 0; number < 60; number++)
    await app.rpc("run.start", { graphId, action: { type: "input", input: { note: `note ${number}` } } });
  await app.id("use-debug").click();
  const rows = app.id("thread");
  await expect(rows.first()).toBeVisible();
  await expect(app.id("thread-columns")).toHaveCount(0);

  const asked = new Set<string>();
  page.on("request", (request) => {
    if (!request.url().endsWith("/rpc/expression.evaluate")) return;
    const { at } = request.postDataJSON() as { at: { threadId: string } };
    asked.add(at.threadId);
  });
  await app.id("watch-add").click();
  await expect(page.locator('[data-testid="watch-field"] .cm-content')).toBeFocused();
  await page.keyboard.type("state.size * 2");
  await page.keyboard.press("Enter");
  await app.id("watch-more").click();
  await page.getByRole("menuitemcheckbox", { name: "Show as a column of the thread list" }).click();
  const heads = page.getByRole("columnheader");
  await expect(heads).toHaveText(["Thread", "state.size * 2"]);
  await expect(rows.first().getByTestId("thread-value")).toHaveText("14");
  expect(asked.size, "the rest is not computed").toBeLessThan(45);
  await app.picture("thread-column", ["light", "dark"]);

  // By keys, for a state key, and the choice stays.
  await app.id("thread-filter").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Column" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("menuitemcheckbox", { name: "state.place", exact: true }).click();
  const value = rows.first().getByTestId("thread-value");
  await expect(value).toHaveText(/^"end of note \d+"$/);
  await expect(value).toHaveAttribute("title", /^"end of note \d+"$/);
  await page.reload();
  await app.id("use-debug").click();
  await expect(value).toHaveText(/^"end of note \d+"$/);

  // What gives no value has a dash, and says why.
  await app.id("watch-add").click();
  await expect(page.locator('[data-testid="watch-field"] .cm-content')).toBeFocused();
  await page.keyboard.type("state.nowhere + 1");
  await page.keyboard.press("Enter");
  await app.id("watch-more").last().click();
  await page.getByRole("menuitemcheckbox", { name: "Show as a column of the thread list" }).click();
  await expect(value).toContainText("—");
  await expect(value).toHaveAttribute("title", /nowhere/);

  await page.getByRole("button", { name: "Remove column" }).click();
  await expect(heads).toHaveCount(0);
  await expect(value).toHaveCount(0);
});
