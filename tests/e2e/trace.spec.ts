/** Where the time and the money of a run went: asked in the trace, and followed to the moment. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect, test } from "./superstep";

/** A model server; what it is asked about rules costs a hundred times more. */
async function listen(): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const usage = body.includes("Rules")
        ? { prompt_tokens: 9000, completion_tokens: 1000, total_tokens: 10_000 }
        : { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 };
      const chunk = (choices: object[], more: object = {}) =>
        `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "small", choices, ...more })}\n\n`;
      const say = (delta: object, finish_reason: string | null) => chunk([{ index: 0, delta, finish_reason }]);
      response.setHeader("content-type", "text/event-stream");
      response.end(
        `${say({ role: "assistant", content: "A finding." }, null)}${say({}, "stop")}${chunk([], { usage })}data: [DONE]\n\n`,
      );
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}` };
}

const research = {
  format: "superstep/1",
  name: "Traced research",
  state: {
    topics: { type: "array", items: { type: "string" } },
    findings: { type: "array", items: { type: "string" }, reducer: "append" },
    checked: { type: "string" },
    slept: { type: "boolean" },
  },
  nodes: {
    worker: { kind: "model", config: { model: "office::small", prompt: "Research {{ state.topic }}", into: "findings" } },
    flaky: {
      kind: "code",
      retry: { attempts: 3, initial_interval: 0.15, jitter: false, retry_on: ["CodeError"] },
      config: { source: "if (context.attempt < 2) throw new Error('not yet'); return { checked: 'yes' };" },
    },
    slow: { kind: "delay", config: { seconds: "0.9" } },
  },
  edges: [
    { from: "__start__", each: "state.topics", as: "topic", to: "worker" },
    { from: "worker", to: "flaky" },
    { from: "flaky", to: "slow" },
    { from: "slow", to: "__end__" },
  ],
  layout: { __start__: [40, 100], worker: [200, 90], flaky: [480, 90], slow: [760, 90], __end__: [1040, 100] },
  examples: [{ name: "four", input: { topics: ["Costs", "Yield", "Rules", "Risks"] } }],
};

test("the trace says which task worked longest and which cost most, and leads to their moments", async ({ app, page }) => {
  const { server, address } = await listen();
  try {
    const connections = { office: { provider: "openai", base_url: `http://${address}/v1/` } };
    const prices = { "office::small": { input: 10, output: 30 } };
    writeFileSync(join(app["data"], "models.json"), JSON.stringify({ connections, prices }));
    await app.openGraph(research);
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.id("trust-allow").click();
    if ((await app.id("run-status").getAttribute("data-status")) !== "done") await app.status("done");
    await app.id("panel-bottom").locator('[data-testid="tab-trace"]').click();
    const summary = app.id("trace-summary");
    await expect(summary).toContainText("4 model calls");
    await expect(summary).toContainText("USD");
    const rows = app.id("trace-rows");
    const row = (kind: string, name: string) => rows.locator(`[data-kind="${kind}"][data-name="${name}"]`);
    await expect(row("node", "worker")).toContainText("×4");
    await expect(row("task", "flaky")).toContainText("1 retry");
    await expect(row("task", "slow")).toBeVisible();
    const longest = /: (\w+)/.exec((await app.id("trace-longest").textContent()) ?? "")?.[1] ?? "";

    // Which cost most?
    await app.id("trace-dearest").click();
    const dearest = rows.locator('[data-mark="dearest"][data-kind="task"]');
    await expect(dearest).toHaveAttribute("aria-selected", "true");
    await expect(app.id("past")).toBeVisible();
    await expect(app.node("worker")).toHaveAttribute("data-state", "next");
    await app.showState();
    await expect(app.key("topics")).toContainText("Rules");
    await app.picture("trace", ["light", "dark"]);

    // Which worked longest? It is marked and at the cursor. Moments that follow each other at once would be one.
    await page.waitForTimeout(500);
    await app.id("trace-longest").click();
    await expect(rows.locator('[aria-selected="true"]')).toHaveAttribute("data-name", longest);
    await row("task", "slow").click();
    await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "slow");
    await app.showState();
    await expect(app.key("checked")).toContainText("yes");
    await app.id("state-inspector").locator('[data-testid="tab-tasks"]').click();
    await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "slow");

    // Back to the moment before, and forward again.
    await page.locator("body").click({ position: { x: 400, y: 4 } });
    await page.keyboard.press("Alt+ArrowLeft");
    await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", longest === "slow" ? "worker" : longest);
    await page.keyboard.press("Alt+ArrowRight");
    await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "slow");

    // What failed, and what is in it.
    await row("task", "flaky").locator('[data-testid="trace-toggle"]').click();
    await expect(row("attempt", "1")).toHaveAttribute("title", /not yet/);
    await expect(row("wait", "1")).toBeVisible();
    await app.id("trace-words").fill("not yet");
    await expect(rows.locator('[data-kind="task"]')).toHaveCount(1);
    await app.id("trace-words").fill("");

    await app.id("trace-shape").click();
    await page.getByRole("option", { name: "Sum by model" }).click();
    await expect(app.id("trace-sums")).toContainText("office::small");
    await expect(app.id("trace-sums")).toContainText("9 270".replace(" ", "\u202f"));

    // A reloaded window shows the same moment.
    await page.reload();
    await expect(app.id("past")).toBeVisible();
    await expect(app.id("trace-sums").or(app.id("trace-rows"))).toBeVisible();
    await app.id("state-inspector").locator('[data-testid="tab-tasks"]').click();
    await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "slow");
  } finally {
    server.close();
  }
});

test("a link leads to its moment, a number to its step", async ({ app, page }) => {
  const loop = {
    format: "superstep/1",
    name: "Counting loop",
    state: { n: { type: "integer", default: 0 } },
    nodes: { count: { kind: "assign", config: { set: { n: "state.n + 1" } } } },
    edges: [
      { from: "__start__", to: "count" },
      { from: "count", route: "state.n < 60", paths: { true: "count", false: "__end__" } },
    ],
    examples: [{ name: "from nothing", input: { n: 0 } }],
  };
  await app.openGraph(loop);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.id("timeline-goto-step").fill("12");
  await app.id("timeline-goto-step").press("Enter");
  await app.showState();
  await expect(app.key("n")).toContainText("12");
  const thread = await app.id("thread").first().getAttribute("data-thread");
  const checkpoint = await page.locator('[data-testid="checkpoint"][aria-selected="true"]').getAttribute("data-checkpoint");
  await app.command("step 37");
  await expect(app.key("n")).toContainText("37");
  await page.evaluate((hash) => (window.location.hash = hash), `#thread/${thread}?at=${checkpoint}`);
  await expect(app.key("n")).toContainText("12");
  expect(new URL(page.url()).hash).toBe("");
  await app.command(`superstep://thread/${thread}`);
  await expect(app.id("past")).toHaveCount(0);
});

test("the critical path is marked, and the canvas shows where time and money went", async ({ app, page }) => {
  const { server, address } = await listen();
  try {
    const connections = { office: { provider: "openai", base_url: `http://${address}/v1/` } };
    const prices = { "office::small": { input: 10, output: 30 } };
    writeFileSync(join(app["data"], "models.json"), JSON.stringify({ connections, prices }));
    await app.openGraph({
      ...research,
      name: "Wide research",
      nodes: {
        worker: research.nodes.worker,
        flaky: research.nodes.flaky,
        pause: { kind: "delay", config: { seconds: "0.3" } },
      },
      edges: [
        ...research.edges.filter((edge) => edge.to !== "slow" && edge.from !== "slow"),
        { from: "__start__", each: "state.topics", as: "topic", to: "pause" },
      ],
      examples: [{ name: "three", input: { topics: ["Costs", "Yield", "Rules"] } }],
    });
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.id("trust-allow").click();
    if ((await app.id("run-status").getAttribute("data-status")) !== "done") await app.status("done");
    await app.id("panel-bottom").locator('[data-testid="tab-trace"]').click();
    const rows = app.id("trace-rows");
    await expect(rows.locator('[data-kind="node"][data-name="worker"]')).toContainText("×3");

    // The last task of each step is marked; the others are not.
    await app.id("trace-critical").click();
    await expect(app.id("trace-critical")).toContainText(/Critical path: \d+ tasks?, /);
    await expect(rows.locator('[data-kind="run"]')).toHaveAttribute("data-critical", "true");
    for (const name of ["worker", "pause"]) {
      const toggle = rows.locator(`[data-kind="node"][data-name="${name}"] [data-testid="trace-toggle"]`);
      if (await toggle.isVisible()) await toggle.click();
    }
    const tasks = rows.locator('[data-kind="task"]');
    expect(await tasks.count()).toBeGreaterThan(await rows.locator('[data-kind="task"][data-critical="true"]').count());

    // Where the money went: only the node with the model cost something, and says how much.
    await app.id("trace-heat").click();
    await page.getByRole("option", { name: "Heat: cost" }).click();
    await expect(app.id("heat-legend")).toContainText("USD");
    await expect(app.node("worker").locator('[data-testid="heat-badge"]')).toContainText("USD");
    await expect(app.id("heat-badge")).toHaveCount(1);
    await app.picture("trace-heat-cost", ["light", "dark"]);
    await app.id("trace-heat").click();
    await page.getByRole("option", { name: "Heat: time" }).click();
    await expect.poll(() => app.id("heat-badge").count()).toBeGreaterThan(2);
    await expect(app.node("pause").locator('[data-testid="heat-badge"]')).toHaveAttribute("data-share", /^\d+$/);
    await app.picture("trace-heat-time", ["light", "dark"]);
    // In Design there is none, and from the palette it goes.
    await app.id("use-design").click();
    await expect(app.id("heat-legend")).toHaveCount(0);
    await app.id("use-debug").click();
    await expect(app.id("heat-legend")).toBeVisible();
    await app.command("Hide heat");
    await expect(app.id("heat-badge")).toHaveCount(0);
  } finally {
    server.close();
  }
});
