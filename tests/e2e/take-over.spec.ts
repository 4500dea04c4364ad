/** Two programs on one database: the second one is told who runs a thread, and may take it over. */
import { expect, test } from "./superstep";

/** Longer together than the story; a long single wait would be a question of its own. */
const waits = Array.from({ length: 12 }, (_, index) => `wait_${index}`);
const names = ["__start__", "begin", ...waits, "__end__"];
const graph = {
  format: "superstep/1",
  name: "Long",
  state: { note: { type: "string" } },
  nodes: {
    begin: { kind: "assign", config: { set: { note: "'begun'" } } },
    ...Object.fromEntries(waits.map((name) => [name, { kind: "delay", config: { seconds: "20" } }])),
  },
  edges: names.slice(1).map((to, index) => ({ from: names[index], to })),
  examples: [{ name: "one", input: { note: "one" } }],
};

test("a thread that another program runs is taken over, after who runs it was said", async ({ app }) => {
  const file = await app.openGraph(graph);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("running");
  await expect(app.node("begin")).toHaveAttribute("data-state", "done");

  await app.beside(async (other) => {
    await other.open();
    await other.openFile(file);
    await other.id("use-debug").click();
    await other.id("thread").click();
    await other.id("run").click();
    const dialog = other.page.getByRole("dialog");
    await expect(dialog).toContainText("Take over the thread?");
    await expect(dialog).toContainText("the Superstep app");
    await other.picture("take-over", ["light", "dark"]);

    // Said no: nothing has changed for the one that runs it.
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(dialog).toHaveCount(0);
    await expect(app.id("run-status")).toHaveAttribute("data-status", "running");

    await other.id("run").click();
    await other.id("confirm").click();
    await other.status("running");
    // Here it ended, and runs in the other program now.
    await expect(app.id("run-status")).toContainText("Running in the Superstep app");
    await expect(app.id("run")).toHaveAttribute("data-action", "takeOver");
    await expect(app.page.getByText(/Another program took this thread over/)).toBeVisible();
  });
});
