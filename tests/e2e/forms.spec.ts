/** Finding what to add by the words people bring along, and forms that show first what matters. */
import { expect, test, type Superstep } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Desk",
  state: { message: { type: "string" }, reply: { type: "string" }, decision: { type: "string" } },
  nodes: { first: { kind: "assign", config: { set: { reply: "state.message" } } } },
  edges: [{ from: "__start__", to: "first" }, { from: "first", to: "__end__" }],
  layout: { __start__: [0, 0], first: [120, -8], __end__: [440, 0] },
};

/** Opens the search on the canvas and types a word. */
async function search(app: Superstep, word: string): Promise<void> {
  await app.id("canvas").focus();
  // With nothing selected: after a question with choices it would ask which way is meant.
  await app.page.keyboard.press("Escape");
  await app.page.keyboard.press("Tab");
  await app.id("node-search").getByRole("combobox").fill(word);
}

const first = (app: Superstep) => app.id("node-search").getByRole("option").first();

test("the search knows what people call things", async ({ app, page }) => {
  const beside = app.write("graphs/story/helper.json", { ...graph, name: "Helper" });
  expect(beside).toContain("helper");
  await app.openGraph(graph);
  for (const [word, kind] of [
    ["llm", "Model"],
    ["if", "Router"],
    ["human", "Ask"],
    ["js", "Code"],
    ["ToolNode", "Tools"],
    ["rag", "Retrieve"],
    ["foreach", "Map"],
    ["sub-graph", "Graph"],
    ["webhook", "HTTP"],
  ] as const) {
    await search(app, word);
    await expect(first(app), word).toContainText(kind);
    await page.keyboard.press("Escape");
  }
  await search(app, "parallel");
  await expect(app.id("search-pattern:research-fan-out")).toBeVisible();
  await app.picture("search", ["light", "dark"]);
  await app.id("node-search").getByRole("combobox").fill("xyzzy");
  await expect(app.id("node-search")).toContainText("Nothing fits");
  await app.id("node-search").getByRole("button", { name: "Show all" }).click();
  await expect(app.id("search-kind:model")).toBeVisible();
  await app.picture("search-all");

  // A graph of the folder is a node that runs it.
  await app.id("node-search").getByRole("combobox").fill("helper");
  await page.keyboard.press("Enter");
  await expect(app.node("graph")).toContainText("helper.json");
  await page.keyboard.press("Control+z");
  await expect(app.node("graph")).toHaveCount(0);

  // The command palette knows the words too.
  await page.keyboard.press("Control+k");
  await app.id("command-palette").getByRole("combobox").fill("gpt");
  await page.keyboard.press("Enter");
  await expect(app.node("model")).toBeVisible();
});

test("a form shows first what matters, and is calm until a field is left", async ({ app, page }) => {
  await app.openGraph(graph);
  await search(app, "llm");
  await page.keyboard.press("Enter");
  const config = app.id("inspector-config");
  const labels = config.locator("label");
  await expect(labels.first()).toHaveText("Model*");
  expect((await labels.allInnerTexts()).map((text) => text.replace("*", ""))).toEqual([
    "Model",
    "Prompt",
    "Output key",
    "Instructions",
  ]);
  await expect(app.id("drawer-Model settings")).toBeVisible();
  await expect(config.locator("[data-invalid]")).toHaveCount(0);
  await app.picture("form-model-calm", ["light", "dark"]);

  // Left empty, it is an error; the others can wait.
  await config.locator('[data-pointer="/config/into"] [role=combobox]').focus();
  await page.keyboard.press("Tab");
  await expect(config.locator('[data-pointer="/config/into"][data-invalid]')).toHaveCount(1);
  await app.picture("form-model-left");
  await config.locator('[data-pointer="/config/into"] [role=combobox]').fill("answer");
  await app.page.getByRole("option", { name: /answer/ }).click();
  await expect(config.locator('[data-pointer="/config/into"][data-invalid]')).toHaveCount(0);

  // What is folded away says how much of it is set.
  await app.id("drawer-Model settings").getByRole("button").first().click();
  await config.locator('[data-pointer="/config/temperature"] input[id]').fill("0.2");
  await page.keyboard.press("Tab");
  await expect(app.id("drawer-Model settings")).toContainText("1 set");
  await app.picture("form-model-drawer", ["light", "dark"]);
});

test("a choice is a label first, and of settings that exclude each other one is chosen", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  await search(app, "human");
  await page.keyboard.press("Enter");
  const config = app.id("inspector-config");
  await config.getByRole("button", { name: "Add choice" }).click();
  await page.keyboard.type("Approve");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Reject");
  await app.picture("form-ask", ["light", "dark"]);
  await page.keyboard.press("Control+s");
  await expect.poll(async () => JSON.stringify(JSON.parse(await read(file)).nodes?.ask?.config?.choices)).toBe(
    JSON.stringify([
      { label: "Approve", value: "Approve" },
      { label: "Reject", value: "Reject" },
    ]),
  );

  await search(app, "foreach");
  await page.keyboard.press("Enter");
  await expect(config.locator('[data-pointer="/config/items"]')).toBeVisible();
  await expect(config.locator('[data-pointer="/config/javascript"]')).toHaveCount(0);
  await config.getByRole("combobox", { name: "Type" }).click();
  await page.getByRole("option", { name: "JavaScript" }).click();
  await expect(config.locator('[data-pointer="/config/javascript"]')).toBeVisible();
  await expect(config.locator('[data-pointer="/config/expression"]')).toHaveCount(0);
  await app.picture("form-map");
  await page.keyboard.press("Escape");
});

async function read(file: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(file, "utf8");
}

const sampled = {
  ...graph,
  examples: [{ name: "Refund", input: { message: "I want my money back" } }],
  nodes: {
    first: { kind: "assign", config: { set: { reply: "state.message" } } },
    write: { kind: "model", config: { model: "scripted", prompt: "Say", into: "reply", script: [{ say: "ok" }] } },
  },
  edges: [{ from: "__start__", to: "first" }, { from: "first", to: "write" }, { from: "write", to: "__end__" }],
  layout: { __start__: [0, 0], first: [120, -8], write: [400, -8], __end__: [700, 0] },
};

test("an expression shows its value of the sample, then of the last run", async ({ app, page }) => {
  await app.openGraph(sampled);
  await app.node("first").click();
  const line = app.id("inspector-config").locator('[data-testid="live-value"]');
  await expect(line).toContainText('= "I want my money back"');
  await expect(line).toContainText("sample “Refund”");
  const code = app.id("inspector-config").locator(".cm-content").first();
  await code.click();
  await page.keyboard.press("End");
  await page.keyboard.type("|upper");
  await expect(line).toContainText('= "I WANT MY MONEY BACK"');
  await app.picture("live-value", ["light", "dark"]);
  await page.keyboard.type(" ~ state.decision.x");
  await expect(line).toContainText("decision", { timeout: 10_000 });
  await expect(line).not.toContainText("=");
  for (let n = 0; n < " ~ state.decision.x".length; n += 1) await page.keyboard.press("Backspace");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.id("use-design").click();
  await expect(line).toContainText('= "I WANT MY MONEY BACK"');
  await expect(line).toContainText("last run");
});

test("the value of an expression comes without moving what stands below it", async ({ app, page }) => {
  await app.openGraph(sampled);
  await app.node("first").click();
  const config = app.id("inspector-config");
  const line = config.locator('[data-testid="live-value"]');
  await expect(line).toContainText('= "I want my money back"');
  const button = config.getByRole("button", { name: "Set a key" });
  const top = async () => (await button.boundingBox())?.y;
  const before = await top();
  await config.locator(".cm-content").first().click();
  await page.keyboard.press("End");
  await page.keyboard.type("|upper");
  expect(await top(), "as soon as it is typed").toBe(before);
  await expect(line).toContainText('= "I WANT MY MONEY BACK"');
  expect(await top(), "with its value").toBe(before);
});

test("the expression of an edge shows its value too", async ({ app, page }) => {
  await app.openGraph({
    ...sampled,
    edges: [
      { from: "__start__", to: "first" },
      { from: "first", to: "__end__", when: "state.message|length > 3" },
    ],
  });
  await page.locator('[data-testid^="edge-label-"]').first().click();
  const line = app.id("inspector").locator('[data-testid="live-value"]');
  await expect(line).toContainText("= true");
  await expect(line).toContainText("sample “Refund”");
});

test("a prompt is written in a large sheet, with the state beside it and the test below", async ({ app, page }) => {
  await app.openGraph(sampled);
  await app.node("write").click();
  const prompt = app.id("inspector-config").locator('[data-pointer="/config/prompt"] .cm-content');
  await prompt.click();
  await page.keyboard.press("Control+Enter");
  const sheet = app.id("large-editor");
  await expect(sheet).toBeVisible();
  await expect(sheet.locator(".cm-content")).toBeFocused();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" to: ");
  await sheet.getByRole("button", { name: /message/ }).click();
  await expect(sheet.locator(".cm-content").first()).toContainText("Say to: {{ state.message }}");
  await expect(sheet.locator('[data-testid="live-value"]')).toContainText("= Say to: I want my money back");
  await sheet.getByText("Test this node").click();
  await app.picture("large-editor", ["light", "dark"]);
  for (const [width, height] of [
    [1024, 700],
    [2560, 1440],
  ] as const) {
    await page.setViewportSize({ width, height });
    await app.picture(`large-editor-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  await expect(prompt).toContainText("Say to: {{ state.message }}");
});

test("a state key lights who writes and who reads it; two nodes show what they exchange", async ({ app, page }) => {
  await app.openGraph({
    ...sampled,
    nodes: { ...sampled.nodes, write: { kind: "assign", config: { set: { decision: "state.reply" } } }, rest: { kind: "delay", config: { seconds: "1" } } },
    layout: { ...sampled.layout, rest: [400, 160] },
  });
  await app.id("tab-keys").click();
  await app.id("state-key-reply").hover();
  await expect(app.node("first")).toHaveAttribute("data-lit", "writes");
  await expect(app.node("write")).toHaveAttribute("data-lit", "reads");
  await expect(app.node("rest")).toHaveAttribute("data-lit", "none");
  await app.picture("key-lit", ["light", "dark"]);
  await page.mouse.move(700, 600);
  await expect(app.node("first")).not.toHaveAttribute("data-lit");
  await app.node("first").click();
  await app.node("write").click({ modifiers: ["Shift"] });
  await expect(app.id("exchange")).toContainText("reply");
  await app.picture("exchange");
});

test("? lists the shortcuts, F1 says what the selected node does, an empty graph teaches four steps", async ({ app, page }) => {
  await app.openGraph({ ...graph, nodes: {}, edges: [], layout: {} });
  await expect(app.id("first-steps").locator("li")).toHaveCount(4);
  await app.picture("first-steps", ["light", "dark"]);
  await app.id("canvas").focus();
  await page.keyboard.press("?");
  const help = app.id("help");
  await expect(help).toContainText("Undo");
  await app.picture("help-shortcuts", ["light", "dark"]);
  await help.getByRole("textbox").fill("fit");
  await expect(help.locator("li").first()).toContainText(/fit/i);
  await page.keyboard.press("Escape");
  await expect(help).toHaveCount(0);
  await search(app, "StateGraph");
  await page.keyboard.press("Enter");
  await expect(app.node("graph")).toBeVisible();
  await page.keyboard.press("F1");
  await expect(help).toContainText("StateGraph");
  await expect(help).toContainText("Graph file, relative to this graph");
  await app.picture("help-node", ["light", "dark"]);
  await page.keyboard.press("Escape");

  // An edge, a state key, several nodes, nothing.
  await page.locator('.react-flow__edge[aria-label="Edge from Start to graph"]').click();
  await page.keyboard.press("F1");
  await expect(help.getByRole("heading", { level: 2 })).toHaveText("Edge: Always");
  await expect(help).toContainText("In LangGraph: add_edge");
  await app.picture("help-edge", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await page.locator('[role="tab"]:has-text("State")').click();
  await app.page.locator('[data-key="message"]').click();
  await page.keyboard.press("F1");
  await expect(help.getByRole("heading", { level: 2 })).toHaveText("State key: message");
  await expect(help).toContainText("UntrackedValue");
  await app.picture("help-key", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await app.id("canvas").focus();
  await page.keyboard.press("Control+d");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("F1");
  await expect(help).toContainText("Align left");
  await app.picture("help-several", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("F1");
  await expect(help.getByRole("heading", { level: 2 })).toHaveText("Graph");
  await app.picture("help-nothing", ["light", "dark"]);
});

test("help texts and keys name values as the lists show them", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Words",
    state: { messages: { type: "array", reducer: "add_messages" } },
    nodes: { shorter: { kind: "memory", config: { action: "trim" } } },
    edges: [{ from: "__start__", to: "shorter" }, { from: "shorter", to: "__end__" }],
  });
  await app.id("tab-keys").click();
  await expect(page.getByText("Messages", { exact: true }).first()).toBeVisible();
  await expect(page.getByText("add_messages")).toHaveCount(0);
  await app.node("shorter").click();
  await expect(app.id("panel-right")).toContainText("“Trim” keeps the end of the conversation, “Delete” removes messages");
});
