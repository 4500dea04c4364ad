/** Questions 1 and 2 of a debugger: who wrote this value, from what; why did it go this way, and not there? */
import { expect, test } from "./superstep";

const desk = {
  format: "superstep/1",
  name: "Order",
  state: {
    price: { type: "number" },
    count: { type: "integer" },
    total: { type: "number" },
    note: { type: "string" },
  },
  nodes: {
    multiply: { kind: "assign", config: { set: { total: "state.price * state.count" } } },
    other: { kind: "assign", config: { set: { note: "'looked'" } } },
    add: { kind: "assign", config: { set: { total: "state.total + 1" } } },
    cheap: { kind: "assign", config: { set: { note: "'cheap'" } } },
    dear: { kind: "assign", config: { set: { note: "'dear'" } } },
  },
  edges: [
    { from: "__start__", to: "multiply" },
    { from: "multiply", to: "other" },
    { from: "other", to: "add" },
    { from: "add", to: "cheap", when: "state.total < 10" },
    { from: "add", to: "dear", when: "state.total >= 10" },
  ],
  examples: [{ name: "one", input: { price: 4, count: 3 } }],
};

test("a value says who wrote it, from what, and an edge why it was taken", async ({ app, page }) => {
  await app.openGraph(desk);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.showState();

  // Three actions: the row, its button, a write of the chain.
  await app.keyButton("total", "state-why");
  const writes = page.getByTestId("provenance-write");
  await expect(writes).toHaveCount(4);
  const said = (at: number) => writes.nth(at);
  await expect(said(0)).toContainText("by add");
  await expect(said(0)).toContainText("12 → 13");
  await expect(said(1)).toContainText("by multiply");
  await expect(said(1)).toContainText("Keys read: price, count");
  await expect(said(2)).toHaveAttribute("data-pointer", "/price");
  await expect(said(2)).toHaveAttribute("data-origin", "input");
  await expect(said(3)).toHaveAttribute("data-depth", "2");
  await app.picture("provenance");
  await said(1).click();
  await expect(said(1), "the moment moves there, the chain stays").toHaveAttribute("aria-current", "true");
  await expect(writes).toHaveCount(4);
  await app.id("provenance").getByRole("button", { name: "State" }).click();
  await expect(app.key("total")).toContainText("12");

  // The step of `add`: one edge was taken, the other was not, and both say why.
  await app.checkpoint(3).click();
  await page.getByRole("tab", { name: /^Tasks/ }).click();
  const task = page.locator('[data-testid="task"][data-node="add"]');
  await task.getByRole("button").first().click();
  const decision = (taken: boolean) => task.locator(`[data-testid="decision"][data-taken="${taken}"]`);
  await expect(decision(true)).toContainText("To dear");
  await expect(decision(true)).toContainText("state.total >= 10 → true");
  await expect(decision(true)).toContainText("total = 13");
  await expect(decision(false)).toContainText("Not to cheap");
  await expect(decision(false)).toContainText("state.total < 10 → false");
  await expect(task).toContainText("Key read: total");
  await app.picture("decisions", ["light", "dark"]);
});
