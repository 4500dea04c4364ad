/** A step into a nested graph is followed by the canvas; stepping out leads back. */
import { expect, test, type Superstep } from "./superstep";

const edges = (...names: string[]) =>
  ["__start__", ...names].map((from, index) => ({ from, to: names[index] ?? "__end__" }));
const put = (value: string) => ({ kind: "assign", config: { set: { note: `'${value}'` } } });
const state = { note: { type: "string" } };

async function openOuter(app: Superstep): Promise<void> {
  const write = (file: string, graph: object) =>
    app.write(`graphs/outer/${file}`, { format: "superstep/1", state, ...graph });
  write("deep.json", { name: "Deep", nodes: { leaf: put("leaf"), twig: put("twig") }, edges: edges("leaf", "twig") });
  write("inner.json", {
    name: "Inner",
    nodes: { first: put("first"), down: { kind: "graph", config: { graph: "deep.json" } }, last: put("last") },
    edges: edges("first", "down", "last"),
  });
  const outer = write("graph.json", {
    name: "Outer",
    nodes: { before: put("before"), nested: { kind: "graph", config: { graph: "inner.json" } }, after: put("after") },
    edges: edges("before", "nested", "after"),
    examples: [{ name: "one", input: { note: "one" } }],
  });
  await app.open();
  await app.openFile(outer);
  await app.id("use-debug").click();
}

test("the canvas goes into the nested graph with the run, and out again", async ({ app, page }) => {
  await openOuter(app);
  const inner = (name: string) => app.id(`nested-node-${name}`);
  const where = app.id("nested-path");
  const into = async () => {
    await page.keyboard.press("F11");
    await app.status("paused");
  };
  // From the start to the node that runs another graph.
  await into();
  await expect(app.node("before")).toHaveAttribute("data-state", "done");
  await expect(app.node("nested")).toHaveAttribute("data-state", "next");
  await expect(where).toHaveCount(0);

  await into();
  await expect(app.id("nested-canvas")).toBeVisible();
  await expect(app.id("canvas")).toHaveCount(0);
  await expect(where).toContainText("Outer");
  await expect(where).toContainText("nested");
  await expect(inner("first")).toHaveAttribute("data-state", "done");
  await expect(inner("down")).toHaveAttribute("data-state", "next");
  await expect(app.id("run-status")).toContainText("nested › down");
  await app.picture("nested", ["light", "dark"]);

  // The step of the graph that is looked at, not of the one around it.
  await page.keyboard.press("F10");
  await app.status("paused");
  await expect(inner("leaf")).toHaveAttribute("data-state", "done");
  await expect(inner("twig")).toHaveAttribute("data-state", "next");
  await expect(where.locator("[aria-current]")).toHaveText("down");

  // A level is looked at by its name; the run stays where it is.
  await where.getByRole("button", { name: "nested" }).click();
  await expect(inner("down")).toBeVisible();
  await where.getByRole("button", { name: "Outer" }).click();
  await expect(app.node("nested")).toBeVisible();
  await where.getByRole("button", { name: "down" }).click();
  await expect(inner("leaf")).toBeVisible();

  await app.id("step-out").click();
  await app.status("paused");
  await expect(where).toHaveCount(0);
  await expect(app.node("nested")).toHaveAttribute("data-state", "done");
  await expect(app.node("after")).toHaveAttribute("data-state", "next");
  await app.id("run").click();
  await app.status("done");
});

for (const goesOn of ["with the graph as it is now", "with the graph that it ran on"]) {
  test(`a thread of an earlier version is stepped into ${goesOn}`, async ({ app, page }) => {
    await openOuter(app);
    const inner = (name: string) => app.id(`nested-node-${name}`);
    const where = app.id("nested-path");
    await page.keyboard.press("F11");
    await app.status("paused");
    await expect(app.node("nested")).toHaveAttribute("data-state", "next");

    // Another node than the next one has a new name: nobody is asked. Or the next one has: the thread stays with its version.
    const isAsked = goesOn.endsWith("ran on");
    await app.id("use-design").click();
    await app.node(isAsked ? "nested" : "after").click();
    await page.keyboard.press("F2");
    await app.id("node-rename").fill("renamed");
    await page.keyboard.press("Enter");
    await expect(app.node("renamed")).toBeVisible();
    await app.id("use-debug").click();
    await expect(app.id("graph-moved")).toContainText("This thread ran on an earlier version of the graph.");
    const press = async (key: string) => {
      await page.keyboard.press(key);
      if (isAsked) await app.id("hot-edit-recorded").click();
    };
    const stands = async (levels: string[], done: string, next: string) => {
      await expect(where.getByRole("listitem")).toHaveText(["Outer", ...levels]);
      await expect(inner(done)).toHaveAttribute("data-state", "done");
      await expect(inner(next)).toHaveAttribute("data-state", "next");
      await expect(app.id("run-status")).toContainText([...levels, next].join(" › "));
      await expect(app.id("step-out")).toBeEnabled();
    };

    await press("F11");
    await stands(["nested"], "first", "down");
    await press("F11");
    await stands(["nested", "down"], "leaf", "twig");
    await app.picture(`nested-earlier-${isAsked ? "recorded" : "current"}`, ["light", "dark"]);
    // The innermost graph has ended; the node that runs it has not.
    await press("F11");
    await expect(where.getByRole("listitem")).toHaveText(["Outer", "nested"]);
    await expect(inner("down")).toHaveAttribute("data-state", "next");
    await press("F11");
    await stands(["nested"], "down", "last");
    // Chosen again it stands where it stood.
    await where.getByRole("button", { name: "Outer" }).click();
    await expect(where).toContainText("nested");
    await app.id("nested-show").click();
    await stands(["nested"], "down", "last");
    await app.id("step-out").click();
    if (isAsked) await app.id("hot-edit-recorded").click();
    await expect(where).toHaveCount(0);
    await app.status("paused");
    await expect(app.id("run-status")).toContainText(isAsked ? "after" : "renamed");
  });
}

test("a double-click opens the graph of a node, and the way back is in the title", async ({ app, page }) => {
  await openOuter(app);
  await app.id("use-design").click();
  await app.node("nested").dblclick();
  await expect(app.id("graph-name")).toHaveText("Inner");
  await expect(app.node("first")).toBeVisible();
  await app.node("down").dblclick();
  await expect(app.id("graph-name")).toHaveText("Deep");
  await expect(app.id("graph-trail").getByRole("button")).toHaveText(["Outer", "Inner"]);
  await app.picture("graph-trail", ["light", "dark"]);

  await page.keyboard.press("Alt+ArrowLeft");
  await expect(app.id("graph-name")).toHaveText("Inner");
  await expect(app.node("down")).toHaveAttribute("data-selected", "true");
  await page.keyboard.press("Alt+ArrowRight");
  await expect(app.id("graph-name")).toHaveText("Deep");
  await app.id("graph-trail").getByRole("button", { name: "Outer" }).click();
  await expect(app.id("graph-name")).toHaveText("Outer");
  await expect(app.node("nested")).toHaveAttribute("data-selected", "true");
  await expect(app.id("graph-trail")).toHaveCount(0);

  // Any other node is renamed by it, as every node is by F2.
  await app.node("before").dblclick();
  await expect(page.locator("input:focus")).toHaveValue("before");
  await page.keyboard.press("Escape");
  await app.node("nested").click();
  await page.keyboard.press("F2");
  await expect(page.locator("input:focus")).toHaveValue("nested");
});

test("a step of a nested graph is replayed, and what that graph did before it stays", async ({ app, page }) => {
  await openOuter(app);
  await app.id("run").click();
  await app.status("done");
  const visit = (step: number) => page.getByRole("button", { name: `Last visit: step ${step}` }).click();
  await app.node("nested").click();
  await visit(2);
  const inside = app.id("within").first();
  const task = (node: string) => inside.locator(`[data-testid="task"][data-node="${node}"]`);
  await expect(task("first")).toBeVisible();
  const step = app.id("within-step").filter({ has: page.locator('[data-node="last"]') });
  await app.picture("nested-replay", ["light", "dark"]);
  await expect(page.getByText("5 checkpoints")).toBeVisible();
  await step.getByTestId("within-replay").click();
  // The fork, and the two steps after it: the status alone was "done" before, too.
  await expect(page.getByText("8 checkpoints")).toBeVisible();
  await app.status("done");
  // The result is shown; the node, which is selected, is chosen again.
  await app.node("before").click();
  await app.node("nested").click();
  // The panel shows the moment before until the new one is read.
  await visit(3);
  await expect(task("last")).toBeVisible();
  await expect(task("first")).toHaveCount(0);
});

/** A nested graph that asks before its end. */
async function openAsking(app: Superstep): Promise<void> {
  app.write("graphs/asks/inner.json", {
    format: "superstep/1",
    name: "Inner",
    state,
    nodes: { first: put("first"), ask: { kind: "ask", config: { question: "Go on?", into: "note" } }, last: put("last") },
    edges: edges("first", "ask", "last"),
  });
  const outer = app.write("graphs/asks/graph.json", {
    format: "superstep/1",
    name: "Outer",
    state,
    nodes: { before: put("before"), nested: { kind: "graph", config: { graph: "inner.json" } } },
    edges: edges("before", "nested"),
    examples: [{ name: "one", input: { note: "one" } }],
  });
  await app.open();
  await app.openFile(outer);
  await app.id("use-debug").click();
}

test("the canvas shows where a run stopped inside a nested graph", async ({ app, page }) => {
  await openAsking(app);
  const inner = (name: string) => app.id(`nested-node-${name}`);
  await app.id("run").click();
  await app.status("asking");
  // A question is offered: the canvas stays where it is until one click.
  await expect(app.id("nested-path")).toContainText("nested");
  await expect(app.node("nested")).toBeVisible();
  await app.id("nested-show").click();
  await expect(inner("first")).toHaveAttribute("data-state", "done");
  await expect(inner("ask")).toHaveAttribute("data-state", "asking");
  await app.picture("nested-question", ["light", "dark"]);

  // The graph around it again, and at a moment of the past as at now.
  await app.id("nested-path").getByRole("button", { name: "Outer" }).click();
  await expect(app.node("nested")).toBeVisible();
  await page.keyboard.press("[");
  await expect(app.id("past")).toBeVisible();
  await expect(app.id("nested-path")).toHaveCount(0);
});

test("a breakpoint inside a nested graph opens that graph", async ({ app }) => {
  await openAsking(app);
  const graph = app.path("graphs/asks/graph.json");
  await app.rpc("breakpoints.change", {
    graph,
    points: [{ id: "1", when: "before", node: "first", within: "nested", enabled: true }],
    removed: [],
  });
  await expect(app.id("breakpoint")).toHaveCount(1);
  await app.id("run").click();
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("nested");
  await expect(app.id("nested-canvas")).toBeVisible();
  await expect(app.id("nested-node-first")).toHaveAttribute("data-state", "next");
  await expect(app.id("nested-path").locator("[aria-current]")).toHaveText("nested");
});
