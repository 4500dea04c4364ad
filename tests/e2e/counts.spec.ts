/** A step with several tasks: what is said of each is what it did, also while the step is open and after a kill. */
import { expect, test } from "./superstep";

const desk = {
  format: "superstep/1",
  name: "Three at once",
  state: { a: { type: "string" }, b: { type: "string" }, paid: { type: "string" } },
  nodes: {
    fast: { kind: "assign", config: { set: { a: "'fast'" } } },
    slow: { kind: "delay", config: { seconds: "4" } },
    pay: { kind: "ask", config: { question: "Pay?", into: "paid" } },
  },
  edges: ["fast", "slow", "pay"].flatMap((node) => [
    { from: "__start__", to: node },
    { from: node, to: "__end__" },
  ]),
  examples: [{ name: "one", input: { b: "one" } }],
};

test("counts and status say what ran, in an open step and after a kill", async ({ app, page }) => {
  const counts: string[] = [];
  await app.openGraph(desk);
  await app.id("use-debug").click();
  // Every count that ever stands on a card, however short.
  await page.exposeFunction("counted", (text: string) => counts.push(text));
  await page.evaluate(() => {
    const look = () => {
      for (const count of document.querySelectorAll('[data-testid="card-runs"]'))
        void (window as unknown as { counted: (text: string) => void }).counted(
          `${count.closest('[data-testid^="node-"]')?.getAttribute("data-testid") ?? ""} ${count.textContent ?? ""}`,
        );
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await app.id("run").click();
  await app.status("running");
  await expect(app.node("fast")).toHaveAttribute("data-state", "done");
  await app.kill();
  await app.startAgain();
  // The question is kept; what else was cut off is gone on with by hand when nothing else has done it.
  await expect(app.id("run-status")).toHaveAttribute("data-status", /stopped|asking/);
  if ((await app.id("run").getAttribute("data-action")) === "continue") await app.id("run").click();
  await app.status("asking");
  await expect(app.id("run-status")).toContainText("pay");
  await expect(app.id("run-status")).not.toContainText("slow");
  await expect(app.id("run-status")).not.toContainText("fast");
  await expect(app.node("fast")).toHaveAttribute("data-state", "done");
  expect(counts, "every node ran once").toEqual([]);

  await page.reload();
  await app.id("use-debug").click();
  await app.id("thread").first().click();
  await app.status("asking");
  await expect(app.id("run-status")).toContainText("pay");
  await expect(app.id("run-status")).not.toContainText("slow");
  await expect(app.id("card-runs")).toHaveCount(0);
});
