/** Expressions know the types of the state: what is offered, what is said of a name, and what is surely wrong in its place. */
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Types",
  state: {
    count: { type: "integer", default: 3 },
    note: { type: "string" },
    order: {
      type: "object",
      properties: { total: { type: "number", description: "With taxes" }, city: { type: "string" } },
      additionalProperties: false,
    },
    raw: { type: "object" },
  },
  nodes: {
    fill: { kind: "assign", config: { set: { raw: "{'ticket': 17, 'owner': 'Ada'}" } } },
    write: { kind: "assign", config: { set: { note: "'x'" } } },
    other: { kind: "assign", config: { set: { note: "'y'" } } },
  },
  edges: [
    { from: "__start__", to: "fill" },
    { from: "fill", to: "write" },
    { from: "fill", to: "other", when: 'state.count == "3"' },
    { from: "write", to: "__end__" },
  ],
  examples: [{ name: "one", input: { note: "one" } }],
};

test("an expression offers what the types say, and says quietly what cannot be meant", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("run").click();
  await app.status("done");
  await app.id("use-design").click();

  // A number is never equal to a text: said, also among the problems, and nothing is stopped by it.
  await page.keyboard.press("Control+Shift+o");
  await app.id("outline-edge-fill->other").click();
  const notice = app.id("type-notice");
  await expect(notice).toHaveText('state.count (whole number) and "3" (text) are of different types and never equal.');
  await app.picture("type-notice", ["light", "dark"]);
  await page.getByRole("button", { name: /^Problems/ }).click();
  await expect(page.getByRole("button", { name: /^Warning.*never equal/ })).toBeVisible();
  const condition = app.id("inspector").locator(".cm-content").first();
  await condition.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("state.count == 3");
  await expect(notice).toHaveCount(0);

  // What is written to a key has its type.
  await app.goTo("write");
  const value = app.id("inspector").locator(".cm-content").first();
  const write = async (text: string) => {
    await value.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
  };
  const options = page.locator(".cm-tooltip-autocomplete li");
  await write("state.count");
  await expect(notice).toHaveText("This gives “whole number”; “text” is wanted here.");
  await page.keyboard.press("Escape");

  // Fields of the schema, with their types; those of an open object as the last run left them.
  await write("state.order.");
  await expect(options).toHaveText(["citytext", "totalnumber"]);
  await app.picture("type-completion", ["light", "dark"]);
  await page.keyboard.type("ci");
  // The editor takes no Enter in the first 75 ms of a list, which are over for a person.
  await expect(options).toHaveText(["citytext"]);
  // Nor a click while it asks for the list again after a letter.
  await expect(async () => {
    await options.click({ timeout: 1_000 });
    await expect(value).toHaveText("state.order.city", { timeout: 1_000 });
  }).toPass({ timeout: 15_000 });
  await expect(notice).toHaveCount(0);
  await write("state.raw.");
  await expect(options).toHaveText(["ownertext", "ticketwhole number"]);
  await page.keyboard.press("Escape");

  await write("state.order.totl");
  await expect(notice).toHaveText("state.order has no field totl, only total, city.");
  await write("state.order.total ~ ''");
  await expect(notice).toHaveCount(0);
  await page.keyboard.press("Escape");
  await value.getByText("total").hover();
  await expect(page.locator(".cm-type-hover")).toContainText("state.order.total: number");
  await expect(page.locator(".cm-type-hover")).toContainText("With taxes");
  await app.picture("type-hover", ["light", "dark"]);
});
