/**
 * Workflows built with the gestures of a person, counted: a pointer action and a text that is typed are one action each;
 * a key that confirms belongs to its text.
 */
import { dirname, join, resolve } from "node:path";
import { expect, test, type Superstep } from "./superstep";

class Counted {
  pointer = 0;
  texts = 0;

  constructor(private readonly app: Superstep) {}

  async click(testIdOrSelector: string): Promise<void> {
    this.pointer += 1;
    await this.app.page.locator(testIdOrSelector).first().click();
  }

  /** The last of its like: a list's own button stands under those of its items. */
  async clickLast(selector: string): Promise<void> {
    this.pointer += 1;
    await this.app.page.locator(selector).last().click();
  }

  async drag(from: string, to: string): Promise<void> {
    this.pointer += 1;
    await this.app.drag(this.app.page.locator(from), this.app.page.locator(to));
  }

  /** Types where the focus is, and confirms. */
  async type(text: string, ...then: string[]): Promise<void> {
    this.texts += 1;
    await this.app.page.keyboard.type(text);
    for (const key of then) await this.app.page.keyboard.press(key);
  }

  /** Writes into a field of the settings. */
  async fill(pointer: string, text: string, ...then: string[]): Promise<void> {
    await this.click(`[data-testid="inspector"] [data-pointer="${pointer}"] :is(input:not([aria-hidden=true]), textarea, .cm-content)`);
    await this.app.page.keyboard.press("Control+a");
    await this.type(text, ...then);
  }

  get all(): number {
    return this.pointer + this.texts;
  }
}

const id = (testId: string) => `[data-testid="${testId}"]`;

test("a triage: a router, two models, a question, the way back, and a run to its end", async ({ app, page }) => {
  const hand = new Counted(app);
  await app.open();
  await page.keyboard.press("Control+Alt+n");
  await expect(app.id("canvas")).toBeVisible();

  await page.keyboard.press("Tab");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("switch", "Enter");
  await expect(app.node("router")).toBeVisible();
  // The state key that comes in.
  await hand.click('[role="tab"]:has-text("State")');
  await hand.click(id("add-key"));
  await expect(page.locator("[data-key] input:focus"), "its name can be typed").toHaveCount(1);
  await hand.type("message", "Enter");
  await hand.click(id("node-router"));
  for (const [at, label, when] of [[0, "refund", "'refund' in state.message"], [1, "question", "true"]] as const) {
    await hand.fill(`/config/ways/${at}/label`, label, "Tab");
    await hand.fill(`/config/ways/${at}/when`, when, "Escape");
  }
  await hand.fill("/config/into", "category", "Enter");

  // A click on a way adds what comes next.
  for (const [way, name] of [["refund", "model"], ["question", "model_2"]] as const) {
    await hand.click(id(`way-router-=${way}`));
    await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
    await hand.type("llm", "Enter");
    await expect(app.node(name)).toBeVisible();
    await hand.fill("/config/prompt", "Answer {{ state.message", "Escape");
    await hand.fill("/config/into", "reply", "Enter");
  }
  await hand.click(id("port-out-model"));
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("human", "Enter");
  await expect(app.node("ask")).toBeVisible();
  await hand.fill("/config/question", "Send it?", "Tab");
  await hand.click('[data-pointer="/config/choices"] button:has-text("Add")');
  await hand.type("approve", "Enter");
  await hand.type("again", "Tab");
  await hand.fill("/config/into", "decision", "Enter");
  await page.keyboard.press("Control+1");
  await hand.drag(id("port-out-model_2"), id("port-in-ask"));
  await hand.drag(id("way-ask-=approve"), id("port-in-__end__"));
  await hand.drag(id("way-ask-=again"), id("port-in-router"));
  await expect(page.locator(".react-flow__edge")).toHaveCount(7);
  await app.picture("workflow-triage", ["light", "dark"]);

  await hand.click(id("run-with-input"));
  await expect(app.id("run-form").getByLabel("Message")).toBeFocused();
  await hand.type("a refund please", "Control+Enter");
  await app.status("asking");
  await hand.click(`${id("answer-choice")}:has-text("again")`);
  await expect(app.node("model").getByTestId("card-runs")).toHaveText("×2");
  await app.status("asking");
  await hand.click(id("run"));
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await hand.click(`${id("answer-choice")}:has-text("approve")`);
  await app.status("done");
  console.log(`triage: ${hand.pointer} pointer actions, ${hand.texts} texts`);
  expect(hand.all).toBeLessThanOrEqual(45);
});

test("a fan-out: a task for each order, code, what all of them gave, and a run to its end", async ({ app, page }) => {
  const hand = new Counted(app);
  await app.open();
  await page.keyboard.press("Control+Alt+n");
  await expect(app.id("canvas")).toBeVisible();

  await page.keyboard.press("Tab");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("javascript", "Enter");
  await expect(app.node("code")).toBeVisible();
  await hand.fill("/config/source", "return { checked: [state.item.id] };", "Escape");
  await hand.click('[role="tab"]:has-text("State")');
  for (const [key, reducer] of [["orders", null], ["checked", "Append"]] as const) {
    await hand.click(id("add-key"));
    await expect(page.locator("[data-key] input:focus"), "its name can be typed").toHaveCount(1);
    await hand.type(key, "Enter");
    const card = `[data-key="${key}"]`;
    await hand.click(`${card} [data-pointer="/type"] [role="combobox"]`);
    await hand.click('[role="option"]:has-text("List")');
    if (reducer === null) continue;
    await hand.click(`${card} [data-pointer="/reducer"] [role="combobox"]`);
    await hand.click(`[role="option"]:has-text("${reducer}")`);
  }
  // The edge from the start becomes one task for each item.
  const port = await app.id("port-out-__start__").boundingBox();
  if (!port) throw new Error("no start");
  hand.pointer += 1;
  await page.mouse.click(port.x + port.width / 2 + 30, port.y + port.height / 2, { button: "right" });
  await hand.click('[role^="menuitem"]:has-text("Once for each item")');
  await page.keyboard.press("Control+a");
  await hand.type("state.orders", "Enter");
  await expect(app.id("edge-label-__start__->code")).toHaveText("each state.orders");

  await hand.click(id("port-out-code"));
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("set", "Enter");
  await expect(app.node("assign")).toBeVisible();
  await hand.click(`${id("inspector")} button:has-text("Set a key")`);
  await hand.fill("/config/set/orders", "summary", "Tab");
  await hand.click(`${id("inspector")} button:has-text("to the state")`);
  await hand.click(`${id("inspector")} [data-pointer="/config/set/summary"] .cm-content`);
  await hand.type("state.checked|length ~ ' orders checked'", "Escape");
  await app.picture("workflow-fan-out", ["light", "dark"]);

  await hand.click(id("run-with-input"));
  await expect(app.id("run-form").getByLabel("Orders")).toBeFocused();
  await hand.type('[{"id": 1}, {"id": 2}]', "Control+Enter");
  await app.status("done");
  await expect(app.node("code").getByTestId("card-runs")).toHaveText("×2");
  await expect(page.getByText("2 orders checked").first()).toBeVisible();
  console.log(`fan-out: ${hand.pointer} pointer actions, ${hand.texts} texts`);
  expect(hand.all).toBeLessThanOrEqual(27);
});

test("an agent: a request, a graph and an MCP server as tools, and a run to its end", async ({ app, page }) => {
  const hand = new Counted(app);
  const helper = app.write("graphs/desk/helper.json", {
    format: "superstep/1",
    name: "Helper",
    state: { task: { type: "string" }, answer: { type: "string" } },
    nodes: { say: { kind: "assign", config: { set: { answer: "'yes'" } } } },
    edges: [{ from: "__start__", to: "say" }, { from: "say", to: "__end__" }],
  });
  const server = resolve(import.meta.dirname, "../../crates/nodes/tests/it/mcp_server.py");
  const add = (list: string) => `${id("inspector")} [data-pointer="/config/${list}"] button:has(:text-is("Add"))`;
  const focused = (pointer: string) => page.locator(`[data-pointer$="${pointer}"] :focus`);
  await app.open();
  await page.keyboard.press("Control+Alt+n");
  await expect(app.id("canvas")).toBeVisible();

  await page.keyboard.press("Tab");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("agent", "Enter");
  await expect(app.node("agent")).toBeVisible();
  // The conversation that it needs came with it.
  await expect(page.locator('[data-pointer="/config/messages"] input:not([aria-hidden=true])')).toHaveValue("messages");
  // The servers and the graphs beside it are those of the graph's folder.
  await page.keyboard.press("Control+s");
  await expect(app.id("file-path")).toBeFocused();
  await page.keyboard.press("Control+a");
  await hand.type(join(dirname(helper), "graph.json"), "Enter");
  await expect(app.id("save-state")).toContainText("Saved");

  await hand.clickLast(add("tools"));
  await hand.click('[role="menuitem"]:has-text("HTTP request")');
  await expect(focused("/http/url")).toBeVisible();
  await hand.type("https://example.org/status", "Tab");
  await hand.clickLast(add("tools"));
  await hand.click('[role="menuitem"]:has-text("Graph")');
  await expect(focused("/graph/graph")).toBeVisible();
  await hand.type("helper.json", "Tab");
  await hand.click(id("drawer-add-MCP servers"));
  await expect(app.id("server-how")).toBeFocused();
  await hand.type(`python3 ${server}`, "Enter");
  // A program and a server are ticked one by one: nobody allows them with a single press.
  await hand.click('[data-testid^="trust-want-program-"]');
  await hand.click('[data-testid^="trust-want-mcp-"]');
  await hand.click(id("trust-allow"));
  await expect(app.id("server-works")).toBeVisible({ timeout: 60_000 });
  await app.picture("workflow-agent", ["light", "dark"]);

  await hand.click(id("run-with-input"));
  await expect(app.id("run-form").getByLabel("Text of message 1")).toBeFocused();
  await hand.type("Hello", "Control+Enter");
  await hand.click(id("trust-allow"));
  await app.status("done");
  console.log(`agent: ${hand.pointer} pointer actions, ${hand.texts} texts`);
  expect(hand.all).toBeLessThanOrEqual(16);
});

test("the first two minutes with an example: run it, answer, look back, edit, fork, run on and compare", async ({ app, page }) => {
  const hand = new Counted(app);
  await app.open();
  await hand.click(id("example-refund-desk"));
  await expect(app.id("canvas")).toBeVisible();
  // A node from the palette onto a wire, and taken back.
  await hand.drag(id("palette-kind-code"), '[data-testid="edge-draft->review"]');
  await expect(app.node("code")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(app.node("code")).toHaveCount(0);

  await hand.click(id("run"));
  await app.status("asking");
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await hand.click(`${id("answer-choice")}:has-text("Approve")`);
  await app.status("done");

  // Back to where it was proposed.
  await hand.click('[data-testid="checkpoint"][data-step="1"][data-source="loop"]');
  await expect(app.id("past")).toBeVisible();
  await app.key("days").hover();
  await hand.click('[data-testid="state-key"][data-key="days"] [data-testid="state-edit"]');
  await expect(app.id("state-edit-field").locator("input:focus")).toHaveCount(1);
  await hand.type("60", "Control+Enter");
  await expect(app.id("edit-preview")).toContainText("propose");
  await hand.click(id("edit-apply"));
  await expect(app.checkpoint(2, "update")).toBeVisible();
  await hand.click(id("run"));
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText("Refund 20 EUR of 40 EUR?");
  await page.keyboard.down("ControlOrMeta");
  await hand.click('[data-testid="checkpoint"][data-step="6"][data-source="loop"]');
  await page.keyboard.up("ControlOrMeta");
  await expect(app.id("compare")).toBeVisible();
  console.log(`two minutes: ${hand.pointer} pointer actions, ${hand.texts} texts`);
  expect(hand.all).toBeLessThanOrEqual(10);
});
