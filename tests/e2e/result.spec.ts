/** The result of a run is what is seen when it ends. */
import { expect, test } from "./superstep";

const answer = `# Brakes\n\n${Array.from({ length: 30 }, (_, at) => `- Advice number **${at}** about brakes`).join("\n")}`;
const graph = {
  format: "superstep/1",
  name: "Result",
  state: {
    answer: { type: "string" },
    sources: { type: "array", items: { type: "object" } },
    tries: { type: "integer" },
    hint: { type: "string" },
    grade: { type: "string" },
  },
  examples: [{ name: "One", input: { tries: 1 } }],
  nodes: {
    look: { kind: "assign", config: { set: { tries: "2" } } },
    write: {
      kind: "assign",
      config: { set: { answer: JSON.stringify(answer), sources: '[{"page": 1, "title": "Pads"}, {"page": 2, "title": "Discs"}]' } },
    },
  },
  edges: [
    { from: "__start__", to: "look" },
    { from: "look", to: "write" },
    { from: "write", to: "__end__" },
  ],
};

test("a run that ends shows its result, which the reader shows large", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const key = (name: string) => page.locator(`[data-testid="result-key"][data-key="${name}"]`);
  await expect(key("answer")).toContainText("Advice number 0 about brakes");
  await expect(key("answer").locator("strong").first()).toHaveText("0");
  await expect(key("sources").getByRole("columnheader")).toHaveText(["page", "title"]);
  await expect(app.id("result-also")).toContainText("tries 2");
  await expect(app.id("state-unset")).toContainText("2 keys not set");

  // Twelve lines, then all.
  const last = key("answer").getByText("Advice number 29");
  const shown = async () => (await key("answer").boundingBox())?.height ?? 0;
  const short = await shown();
  await key("answer").locator('[data-testid="result-more"]').click();
  await expect.poll(shown).toBeGreaterThan(short + 100);
  await expect(last).toBeVisible();

  // Large, searched, as it was written, and away with Escape.
  await key("answer").locator('[data-testid="result-open"]').click();
  await expect(app.id("reader")).toBeVisible();
  await app.id("reader-find").fill("number 2");
  await expect(app.id("reader-matches")).toHaveText("1 of 11");
  await page.keyboard.press("Enter");
  await expect(app.id("reader-matches")).toHaveText("2 of 11");
  await app.id("reader").getByRole("tab", { name: "Raw" }).click();
  await expect(app.id("reader-text")).toContainText("- Advice number **3**");
  await page.keyboard.press("Escape");
  await expect(app.id("reader")).toHaveCount(0);

  // The state is one press away, and stays chosen.
  await app.showState();
  await expect(app.key("tries")).toContainText("2");
  await expect(app.id("state-unset")).toContainText("hint, grade");
});

test("a summary says in the author's words what a task and the run did", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Summaries",
    state: { amount: { type: "integer" } },
    summary: "## Refund\n\nof **{{ state.amount }} €** approved",
    examples: [{ name: "One", input: { amount: 30 } }],
    nodes: {
      double: { kind: "assign", config: { set: { amount: "state.amount * 2" } }, summary: "From {{ state.amount }} to **{{ update.amount }}**" },
    },
    edges: [
      { from: "__start__", to: "double" },
      { from: "double", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await expect(app.id("result").getByTestId("summary").locator("strong")).toHaveText("60 €");
  await expect(app.id("thread").getByTestId("summary-line")).toHaveText("Refund");
  await app.node("double").click();
  const summary = page.getByRole("region", { name: "Summary" });
  await expect(summary).toHaveText("From 30 to 60");
  await app.picture("summary", ["light", "dark"]);

  // It is written in the settings of the node.
  await app.id("use-design").click();
  await app.node("double").click();
  const template = app.id("summary-template").locator(".cm-content");
  await expect(template).toContainText("update.amount");
  await template.fill("{{ state.nope }}");
  await expect(app.id("inspector-policy")).toContainText("There is no state key nope");
});
