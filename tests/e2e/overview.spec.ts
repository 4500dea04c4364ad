/** How many runs there were, how they ended and what they took: figures, and the runs behind each of them. */
import { expect, test } from "./superstep";

/** `check` fails when it is asked to; what is slow takes its time. */
const desk = (name: string, fails: boolean) => ({
  format: "superstep/1",
  name,
  state: { topic: { type: "string" }, said: { type: "string" } },
  nodes: {
    slow: { kind: "delay", config: { seconds: "0.3" } },
    check: {
      kind: "code",
      config: { source: fails ? "throw new TypeError('no such order');" : "return { said: 'fine' };" },
    },
  },
  edges: [
    { from: "__start__", to: "slow" },
    { from: "slow", to: "check" },
    { from: "check", to: "__end__" },
  ],
  layout: { __start__: [40, 100], slow: [200, 90], check: [480, 90], __end__: [760, 100] },
  examples: [{ name: "one", input: { topic: "orders" } }],
});

test("runs of all graphs are counted, and each figure leads to its runs", async ({ app, page }) => {
  const run = async (status: string) => {
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.status(status);
  };
  await app.open();
  await app.command("Dashboard");
  const dialog = app.id("overview");
  await expect(dialog).toContainText("No runs");
  await page.keyboard.press("Escape");

  const fine = app.write("graphs/fine/graph.json", desk("Fine", false));
  const broken = app.write("graphs/broken/graph.json", desk("Broken", true));
  await app.openFile(fine);
  await run("done");
  await app.openFile(broken);
  await run("failed");

  await app.id("overview-open").click();
  const figure = (name: string) => app.id(`overview-figure-${name}`);
  await expect(figure("begun")).toHaveText(/2$/);
  await expect(figure("done")).toHaveText(/1$/);
  await expect(figure("failed")).toHaveText(/1$/);
  await expect(figure("running")).toHaveText(/0$/);
  await expect(figure("input")).toHaveText(/0$/);
  await expect(figure("cost")).toHaveText(/–$/);
  await expect(figure("median")).toHaveText(/\d\s(ms|s)$/);
  const lines = app.id("overview-run");
  await expect(lines).toHaveCount(2);

  const failures = app.id("overview-failures").locator("tbody tr");
  await expect(failures).toHaveCount(1);
  await expect(failures).toHaveText(/^check\w+Broken11$/);
  const nodes = app.id("overview-nodes").locator("tbody tr");
  // A delay calls a task of its own, `wait`.
  await expect(nodes).toHaveCount(6);
  await expect(nodes.first(), "the slowest first").toContainText("slow");
  await app.picture("overview");

  // One graph alone.
  await app.id("overview-graph").click();
  await page.getByRole("option", { name: /^Fine/ }).click();
  await expect(figure("begun")).toHaveText(/1$/);
  await expect(app.id("overview-failures")).toContainText("No task failed.");
  await app.id("overview-graph").click();
  await page.getByRole("option", { name: "All graphs" }).click();

  // A figure lists its runs, and a failure leads to the task that failed.
  await figure("failed").click();
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText("Broken");
  await figure("done").click();
  await expect(lines).toContainText("Fine");
  await failures.getByRole("button").click();
  await expect(lines).toHaveCount(1);
  await lines.click();
  await expect(dialog).toHaveCount(0);
  await expect(app.id("graph-name")).toHaveText("Broken");
  await expect(app.id("state-inspector")).toContainText("no such order");
});
