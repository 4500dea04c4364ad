/** What would happen if I answered so: the way of each choice, its side effects, and an answer of one's own. */
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Claims",
  state: {
    verdict: { type: "string" },
    proposal: { type: "string" },
    draft: { type: "string" },
    who: { type: "string" },
    closed: { type: "boolean" },
    amount: { type: "number" },
  },
  input: ["amount"],
  examples: [{ name: "Forty", input: { amount: 40 } }],
  nodes: {
    review: {
      kind: "ask",
      config: {
        question: "Pay {{ state.amount }} EUR?",
        into: "verdict",
        answer: { type: "string", title: "Verdict" },
        choices: [
          { label: "Approve", value: "approve" },
          { label: "Offer half", value: "half" },
          { label: "Escalate", value: "escalate" },
          { label: "Reject", value: "reject" },
        ],
      },
    },
    pay: { kind: "code", effect: "once", config: { language: "javascript", source: "return {}" } },
    propose: {
      kind: "model",
      config: { model: "scripted", prompt: "Propose", into: "proposal", script: [{ say: "20 EUR" }] },
    },
    draft: { kind: "assign", config: { set: { draft: "state.proposal|upper" } } },
    pick: {
      kind: "model",
      config: { model: "scripted", prompt: "Who", into: "who", script: [{ say: "lead" }] },
    },
    close: { kind: "assign", config: { set: { closed: "true" } } },
  },
  edges: [
    { from: "__start__", to: "review" },
    {
      from: "review",
      route: "state.verdict",
      paths: { approve: "pay", half: "propose", escalate: "pick", reject: "close" },
      default: "close",
    },
    { from: "pay", to: "close" },
    { from: "propose", to: "draft" },
    { from: "draft", to: "review" },
    { from: "pick", route: "state.who", paths: { lead: "close", board: "review" } },
    { from: "close", to: "__end__" },
  ],
};

test("each choice says where it leads before it is taken, and so does an answer of one's own", async ({
  app,
  page,
}) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-approve").click();
  const detail = app.id("question-detail");
  const way = (choice: number) =>
    detail.locator(`[data-testid="answer-choice"][data-choice="${choice}"] [data-testid="answer-path"]`);
  await expect(way(1)).toHaveText(/^pay.*once.*close.*End$/);
  await expect(way(2)).toHaveText(/^propose.*draft.*Asks again · review$/);
  await expect(way(3)).toHaveText(/^pick.*close or review, depending on who$/);
  await expect(way(4)).toHaveText(/^close.*End$/);
  await app.picture("decision-preview", ["light", "dark"]);

  await detail.getByRole("button", { name: "Another answer…" }).click();
  const field = detail.getByLabel("Verdict");
  await field.fill("nobody knows");
  await app.id("answer-preview").click();
  const own = detail.locator('form, div').locator('[data-testid="answer-path"]').last();
  await expect(own).toHaveText(/^close.*End$/);

  // Nothing was answered by looking. What is taken goes where it said.
  await expect(app.id("question")).toHaveCount(1);
  await detail.getByRole("button", { name: /Offer half/ }).click();
  await expect(way(2)).toHaveText(/^propose.*draft.*Asks again · review/);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.id("use-debug").click();
  await app.picture("decision-preview-debug", ["light", "dark"]);
});
