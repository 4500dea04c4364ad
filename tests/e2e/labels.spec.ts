/** Tags and metadata of runs, and outputs that are pinned. */
import { expect, test } from "./superstep";

test("runs are given tags and metadata, and threads are found by them", async ({ app, page }) => {
  await app.openExample("counter");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.id("thread-new").click();
  await app.id("run-labels").click();
  await app.id("run-label-tags").fill("nightly, eval");
  await app.id("run-label-metadata").fill("customer=acme");
  await app.id("run-start").click();
  await app.status("done");
  const thread = app.id("thread");
  await expect(thread).toHaveCount(2);
  await expect(thread.first()).toContainText("eval");
  await expect(app.id("thread-labels")).toContainText("customer=acme");

  await app.id("thread-filter").click();
  await page.getByRole("menuitemcheckbox", { name: "customer=acme" }).click();
  await expect(thread).toHaveCount(1);
  await expect(app.id("thread-labels-badge")).toContainText("customer=acme");
  await app.id("thread-labels-badge").getByRole("button", { name: "Show all" }).click();
  await expect(thread).toHaveCount(2);
});

test("a pinned output is used instead of the node, until it is unpinned", async ({ app, page }) => {
  await app.openExample("counter");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.node("finish").click();
  await app.id("pin-output").click();
  await expect(app.id("pin-mark")).toHaveText("Pinned");
  await app.id("thread-new").click();
  await app.id("run-start").click();
  await app.status("done");
  await expect(app.id("pinned-run")).toContainText("finish");
  await app.node("increment").click();
  await app.node("finish").click();
  await expect(app.id("task-record")).toContainText("did not run");
  await page.reload();
  await expect(app.id("pin-mark")).toHaveText("Pinned");
  await app.node("finish").click();
  await app.id("pin-output").click();
  await expect(app.id("pin-mark")).toHaveCount(0);
});

test("a pinned output of a nested graph is used and shown where that graph runs within another", async ({ app, page }) => {
  const put = (value: string) => ({ kind: "assign", config: { set: { note: `'${value}'` } } });
  const write = (file: string, graph: object) =>
    app.write(`graphs/pinned/${file}`, {
      format: "superstep/1",
      state: { note: { type: "string" } },
      examples: [{ name: "one", input: { note: "one" } }],
      ...graph,
    });
  const inner = write("inner.json", {
    name: "Inner",
    nodes: { fetch: put("fetched"), last: put("last") },
    edges: [
      { from: "__start__", to: "fetch" },
      { from: "fetch", to: "last" },
    ],
  });
  const outer = write("graph.json", {
    name: "Outer",
    nodes: { nested: { kind: "graph", config: { graph: "inner.json" } } },
    edges: [{ from: "__start__", to: "nested" }],
  });
  await app.rpc("pins.set", { graph: inner, node: "last", output: { note: "pinned" } });
  await app.open();
  await app.openFile(outer);
  await app.id("use-debug").click();
  await app.id("expand-nested").click();
  const mark = app.id("inside-nested").getByTestId("pin-mark");
  await expect(mark).toBeVisible();
  await app.id("run").click();
  await app.status("done");
  await expect(app.id("pinned-run")).toContainText("nested/last");
  await app.picture("pinned-within", ["light", "dark"]);

  // As when another window pins another node instead.
  const nodes = app.id("inside-nested");
  await app.rpc("pins.set", { graph: inner, node: "fetch", output: { note: "pinned" } });
  await expect(nodes.getByTestId("nested-node-fetch").getByTestId("pin-mark")).toBeVisible();
  await app.rpc("pins.set", { graph: inner, node: "last" });
  await expect(mark).toHaveCount(1);

  // The canvas of the nested graph, into which a step goes, shows it, too.
  await app.id("thread-new").click();
  await page.keyboard.press("F11");
  await expect(app.id("run-status")).toContainText("nested › last");
  await expect(app.id("nested-canvas").getByTestId("pin-mark")).toHaveCount(1);
});
