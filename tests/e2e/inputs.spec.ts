/** Walking through what a graph was given before, from the form of a run and from the chat; what was typed stays. */
import { expect, test } from "./superstep";

const sums = {
  format: "superstep/1",
  name: "Sums",
  input: ["amount", "note"],
  state: { amount: { type: "string" }, note: { type: "string" }, twice: { type: "string" } },
  nodes: { double: { kind: "assign", config: { set: { twice: "state.amount ~ state.amount" } } } },
  edges: [
    { from: "__start__", to: "double" },
    { from: "double", to: "__end__" },
  ],
  layout: { __start__: [40, 100], double: [200, 90], __end__: [480, 100] },
};

const talk = {
  format: "superstep/1",
  name: "Talk",
  state: { messages: { type: "array", reducer: "add_messages" } },
  nodes: {
    answer: {
      kind: "model",
      config: { model: "scripted", messages: "messages", into: "messages", pace_ms: 0, script: [{ say: "Yes." }] },
    },
  },
  edges: [
    { from: "__start__", to: "answer" },
    { from: "answer", to: "__end__" },
  ],
  layout: { __start__: [40, 100], answer: [200, 90], __end__: [480, 100] },
};

test("up and down walk through earlier inputs of a run, and give back what was typed", async ({ app, page }) => {
  const file = await app.openGraph(sums);
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
  for (const amount of ["one", "two"]) {
    await app.rpc("run.start", { graphId, action: { type: "input", input: { amount } } });
    await expect
      .poll(async () => (await app.rpc<{ threads: { status: string }[] }>("thread.list", { graphId, limit: 0 })).threads)
      .toContainEqual(expect.objectContaining({ status: "done" }));
  }
  await app.id("use-debug").click();
  const amount = app.id("field-/amount").locator("input, textarea, .cm-content").first();
  await amount.click();
  await page.keyboard.type("typed");
  await page.keyboard.press("ArrowUp");
  const shown = app.id("field-/amount");
  await expect(shown.locator("input, textarea").first()).toHaveValue("two");
  await page.keyboard.press("ArrowUp");
  await expect(shown.locator("input, textarea").first()).toHaveValue("one");
  await app.picture("earlier-input", ["light", "dark"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(shown.locator("input, textarea").first()).toHaveValue("typed");
  // The same by the buttons, to the end.
  await app.id("run-earlier-input").click();
  await expect(shown.locator("input, textarea").first()).toHaveValue("two");
  await app.id("run-earlier-input").click();
  await app.id("run-earlier-input").click();
  await expect(page.getByText("No earlier input in the threads of this graph.")).toBeVisible();
  await expect(shown.locator("input, textarea").first()).toHaveValue("one");
  await app.id("run-later-input").click();
  await app.id("run-later-input").click();
  await expect(app.id("run-later-input")).toBeDisabled();
  await expect(shown.locator("input, textarea").first()).toHaveValue("typed");
});

test("up in the chat brings back what was said; a change of the language loses nothing", async ({ app, page }) => {
  await app.openGraph(talk);
  await app.id("use-debug").click();
  await app.id("bottom-bar").or(app.id("panel-bottom")).locator('[data-testid="tab-messages"]').click();
  const field = app.id("chat-text");
  for (const text of ["hello", "tea\nor milk"]) {
    await field.fill(text);
    await page.keyboard.press("Enter");
    await expect(field).toHaveValue("");
    await app.status("done");
    await expect(app.id("messages")).toContainText(text.slice(0, 3));
  }
  await field.fill("not sent");
  await page.keyboard.press("ArrowUp");
  await expect(field).toHaveValue("tea\nor milk");
  await page.keyboard.press("ArrowUp");
  await expect(field).toHaveValue("hello");
  await page.keyboard.press("ArrowDown");
  await expect(field).toHaveValue("tea\nor milk");
  await page.keyboard.press("ArrowDown");
  await expect(field).toHaveValue("not sent");

  // An edit of an earlier message puts what was typed aside.
  const human = app.id("messages").locator('[data-testid="message"][data-role="human"]');
  await human.last().getByTestId("turn-edit").click();
  await expect(field).toHaveValue("tea\nor milk");
  await field.fill("coffee");
  await page.keyboard.press("Control+,");
  await page.getByRole("tab", { name: "中文" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await page.keyboard.press("Escape");
  await expect(field).toHaveValue("coffee");
  await expect(app.id("chat")).toContainText("已编辑消息");
  await app.id("chat").getByRole("button", { name: "取消" }).click();
  await expect(field).toHaveValue("not sent");
});
