/** Answering: nothing is filled in for a person, all decisions about a tool, what has changed; and a node tried alone. */
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Sums",
  state: {
    messages: { type: "array", reducer: "add_messages" },
    verdict: { type: "object" },
  },
  examples: [{ name: "Two and three", input: { messages: [{ type: "human", content: "Add two and three" }] } }],
  nodes: {
    model: {
      kind: "model",
      config: {
        model: "scripted",
        messages: "messages",
        into: "messages",
        tools_of: "tools",
        script: [{ calls: [{ tool: "add", args: { a: 2, b: 3 } }] }],
      },
    },
    tools: {
      kind: "tools",
      config: {
        messages: "messages",
        tools: [
          {
            name: "add",
            description: "Adds two numbers.",
            approval: true,
            parameters: {
              type: "object",
              properties: { a: { type: "number" }, b: { type: "number" } },
              required: ["a", "b"],
            },
            javascript: { source: "return args.a + args.b" },
          },
        ],
      },
    },
    judge: {
      kind: "ask",
      config: {
        question: "Is **that** right?",
        answer: {
          type: "object",
          required: ["decision", "points"],
          properties: { decision: { enum: ["right", "wrong"] }, points: { type: "number" } },
        },
        into: "verdict",
      },
    },
  },
  edges: [
    { from: "__start__", to: "model" },
    { from: "model", to: "tools" },
    { from: "tools", to: "judge" },
    { from: "judge", to: "__end__" },
  ],
};

test("decide about a tool with other arguments, and answer a form that begins empty", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-approve").click();

  const detail = app.id("question-detail");
  await expect(detail).toContainText("May the tool add run?");
  await expect(app.id("answer-choice")).toHaveText([
    /Approve/,
    /Reject/,
    /Edit….*Change the arguments/,
    /Respond….*this as its result/,
  ]);
  await page.keyboard.press("3");
  await expect(app.id("answer-form")).toContainText("Arguments");
  await app.id("answer-form").getByRole("tab", { name: "JSON" }).click();
  await app.id("answer-json").locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{"type": "edit", "args": {"a": 20, "b": 3}}');
  await app.id("answer-submit").click();

  // The next question: nothing is decided yet, and what is missing is said.
  await expect(detail).toContainText("Is that right?");
  await expect(app.id("answer-submit")).toBeDisabled();
  await expect(app.id("answer-missing")).toContainText("Decision is missing.");
  await app.id("changed-since").getByRole("button").first().click();
  await expect(app.id("changed-since").locator('[data-testid="difference"]')).toContainText(/changed the arguments of this call.*23"/);
  await page.getByRole("combobox", { name: "Decision" }).click();
  await page.getByRole("option", { name: "right", exact: true }).click();
  await expect(app.id("answer-missing")).toContainText("Points is missing.");
  await page.getByLabel("Points").fill("0");
  await expect(app.id("answer-missing")).toHaveCount(0);
  await app.id("answer-submit").click();
  await expect(app.id("question")).toHaveCount(0);
  await app.id("use-debug").click();
  await app.status("done");
  await app.id("use-approve").click();
  await app.id("home").click();
  await expect(app.id("start-screen")).toBeVisible();
});

test("try a node alone with a sample", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.node("model").click();
  await app.id("inspector-test").click();
  const trial = app.id("node-test");
  await expect(trial).toBeInViewport();
  await trial.getByRole("button", { name: "Samples" }).click();
  await page.getByRole("menuitem", { name: "Two and three" }).click();
  await app.id("node-test-run").click();
  await expect(app.id("node-test-result")).toContainText("Done");
  await expect(app.id("node-test-result")).toContainText("add");

  // A question looks as in the inbox, and takes its answer the same way.
  await app.goTo("judge");
  await app.id("inspector-test").click();
  await app.id("node-test-run").click();
  const result = app.id("node-test-result");
  await expect(result.locator("strong")).toHaveText("that");
  await expect(app.id("answer-missing")).toContainText("Decision is missing.");
  await page.getByRole("combobox", { name: "Decision" }).click();
  await page.getByRole("option", { name: "wrong", exact: true }).click();
  await result.getByLabel("Points").fill("7");
  await app.id("answer-submit").click();
  await expect(result).toContainText("Done");
  await expect(result).toContainText('"points": 7');
});
