/** A model call is tried again with another prompt, beside the answer in the thread, and taken over; a task runs with other values. */
import { createServer, type Server } from "node:http";
import { openNasty } from "./fixtures/nasty/nasty";
import { expect, test, type Superstep } from "./superstep";

/** A model server that repeats what it is asked, word by word; `SLOW` in a prompt makes it pause before each. */
async function listen(): Promise<{ server: Server; address: string; asked: Record<string, any>[] }> {
  const asked: Record<string, any>[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const json = JSON.parse(body) as Record<string, any>;
      asked.push(json);
      const last = String(json["messages"].at(-1).content);
      const words = `You said: ${last}`.split(" ").map((word) => `${word} `);
      const chunk = (choices: object[], more: object = {}) =>
        `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "small", choices, ...more })}\n\n`;
      const say = (delta: object, finish_reason: string | null) => chunk([{ index: 0, delta, finish_reason }]);
      response.setHeader("content-type", "text/event-stream");
      const usage = { prompt_tokens: 20, completion_tokens: words.length, total_tokens: 20 + words.length };
      const next = (): void => {
        const word = words.shift();
        if (word !== undefined) {
          response.write(say({ role: "assistant", content: word }, null));
          setTimeout(next, last.includes("SLOW") ? 400 : 5);
        } else response.end(`${say({}, "stop")}${chunk([], { usage })}data: [DONE]\n\n`);
      };
      next();
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}`, asked };
}

const letter = {
  format: "superstep/1",
  name: "Letter",
  state: {
    topic: { type: "string" },
    text: { type: "string" },
    words: { type: "integer" },
  },
  nodes: {
    write: {
      kind: "model",
      config: { model: "office::small", system: "Be kind.", prompt: "Write about {{ state.topic }}", into: "text", temperature: 0.5 },
    },
    count: { kind: "assign", config: { set: { words: "state.text | length" } } },
  },
  edges: [
    { from: "__start__", to: "write" },
    { from: "write", to: "count" },
    { from: "count", to: "__end__" },
  ],
  layout: { __start__: [40, 100], write: [200, 90], count: [480, 90], __end__: [760, 100] },
  examples: [{ name: "rain", input: { topic: "rain" } }],
};

const openPlayground = async (app: Superstep, node: string) => {
  await app.node(node).click();
  const task = app.page.locator(`[data-testid="task"][data-selected][data-node="${node}"]`);
  await task.getByTestId("exchange").getByRole("button").first().click();
  await task.getByTestId("playground-open").click();
  await expect(app.id("playground")).toBeVisible();
};

test("a prompt is tried, stopped, compared and taken over into the node and into a fork", { tag: "@docs" }, async ({ app, page }) => {
  const { server, address, asked } = await listen();
  try {
    app.writeText(
      "models.json",
      JSON.stringify({
        connections: { office: { provider: "openai", base_url: `http://${address}/v1/` } },
        prices: { "office::small": { input: 1000, output: 2000 } },
      }),
    );
    await app.openGraph(letter);
    await app.id("use-debug").click();
    await app.id("run").click();
    await app.id("trust-want-connection-office").check();
    await app.id("trust-allow").click();
    await app.status("done");
    await app.checkpoint(1).first().click();
    await openPlayground(app, "write");

    // As it was sent: the prompt of the node is a template, with what it gave.
    await expect(app.id("playground-prompt")).toHaveValue("Write about {{ state.topic }}");
    await expect(app.id("playground-rendered")).toHaveText("Write about rain");
    await expect(app.id("playground-answer").first()).toContainText("You said: Write about rain");
    await app.id("playground-prompt").fill("Sing of {{ state.topic }} twice");
    await expect(app.id("playground-rendered")).toHaveText("Sing of rain twice");
    await app.id("playground-run").click();
    const tries = app.id("playground-try");
    await expect(tries.first()).toHaveAttribute("data-state", "done");
    await expect(tries.first().locator("ins").first()).toContainText("Sing");
    await expect(tries.first()).toContainText("USD");
    const sent = asked.at(-1);
    expect(sent?.["messages"].map((message: { content: unknown }) => message.content)).toEqual(["Be kind.", "Sing of rain twice"]);
    expect(sent?.["temperature"]).toBe(0.5);
    await app.picture("playground", ["light", "dark"]);

    // One that takes its time shows its words as they come, and is stopped.
    await app.id("playground-prompt").fill("SLOW one two three four five six seven eight nine ten");
    await app.id("playground-run").click();
    await expect(tries.first().getByTestId("playground-answer")).toContainText("You said:");
    await app.id("playground-stop").click();
    await expect(tries.first()).toHaveAttribute("data-state", "stopped");
    await expect(tries).toHaveCount(2);

    // The prompt becomes the node's; one undo takes it back.
    await tries.nth(1).getByTestId("playground-take-node").click();
    await expect(page.getByText("Prompt and settings of write changed")).toBeVisible();
    await expect(tries.nth(1).getByTestId("playground-take-node")).toBeDisabled();

    // The answer becomes the task's, on a branch of its own, from which the run goes on.
    await tries.nth(1).getByTestId("playground-take-fork").click();
    await expect(app.id("playground")).toBeHidden();
    await expect(page.getByText("Runs next: count")).toBeVisible();
    await app.id("run").click();
    await app.status("done");
    await app.showState();
    await expect(app.key("text")).toContainText("You said: Sing of rain twice");
    await expect(app.key("words")).toContainText("29");
    await expect(app.id("timeline-branches")).toHaveText("2 branches");
    await page.keyboard.press("Control+z");
    await app.node("write").click();
    await app.id("panel-right").locator('[data-testid="tab-inspector"]').click();
    await expect(app.id("inspector")).toContainText("Write about {{ state.topic }}");
  } finally {
    server.close();
  }
});

test("a recorded answer is found again without a server, and another request says what is missing", async ({ app, page }) => {
  await openNasty(app);
  const { open } = await app.rpc<{ open: { graphId: string }[] }>("app.info", {});
  const action = { type: "input", input: { goal: "close the books" } };
  const { threadId } = await app.rpc<{ threadId: string }>("run.start", { graphId: open[0]?.graphId, action });
  await page.locator(`[data-testid="thread"][data-thread="${threadId}"]`).click();
  await app.status("asking");
  await app.node("comment").click();
  await app.id("task-visit-previous").click();
  const task = page.locator('[data-testid="task"][data-selected][data-node="comment"]');
  await expect(task.getByTestId("exchange")).toContainText("recorded answer");
  await expect(task.getByTestId("exchange")).toContainText("USD");
  await task.getByTestId("exchange").getByRole("button").first().click();
  await task.getByTestId("playground-open").click();
  await app.id("playground-run").click();
  const tries = app.id("playground-try");
  await expect(tries.first()).toHaveAttribute("data-state", "done");
  await expect(tries.first()).toContainText("Same text as in the thread");
  await app.id("playground-prompt").fill("Comment on everything.");
  await app.id("playground-run").click();
  await expect(tries).toHaveCount(2);
  await expect(tries.first()).toHaveAttribute("data-state", "failed");
  await expect(tries.first()).toContainText("has no recorded answer");
});

test("a task runs again with another value, on a fork", async ({ app, page }) => {
  await openNasty(app);
  await app.id("timeline-goto-step").fill("10");
  await page.keyboard.press("Enter");
  await app.node("loop").click();
  await app.id("task-rerun").click();
  const dialog = app.id("task-rerun-dialog");
  await expect(dialog).toContainText("Run loop from step");
  await expect(app.id("task-rerun-next")).toContainText("Nothing changed");
  const total = dialog.locator('[aria-label="total"]').first();
  await total.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("700");
  await expect(app.id("task-rerun-next")).toContainText("Runs next: loop");
  await app.picture("rerun", ["light", "dark"]);
  await dialog.getByRole("button", { name: "Fork and run one step" }).click();
  await app.id("effects-go").click();
  await expect(app.checkpoint(12).first()).toContainText("loop");
  await app.status("paused");
  await app.showState();
  await expect(app.key("total")).toContainText("709");
  await expect(app.id("timeline-branches")).toHaveText("4 branches");
});

test("a call says what is other in its prompt than in the call before of its node", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Rounds of a letter",
    state: { n: { type: "integer", default: 0 }, text: { type: "string" } },
    nodes: {
      count: { kind: "assign", config: { set: { n: "state.n + 1" } } },
      write: {
        kind: "model",
        config: {
          model: "scripted",
          system: "You write letters. This is draft {{ state.n }} of three; keep what was good.",
          prompt: "Write the letter.",
          into: "text",
          pace_ms: 0,
          script: [{ say: "Dear you." }],
        },
      },
    },
    edges: [
      { from: "__start__", to: "count" },
      { from: "count", to: "write" },
      { from: "write", to: "count", when: "state.n < 3" },
      { from: "write", to: "__end__", when: "state.n >= 3" },
    ],
    layout: { __start__: [40, 100], count: [200, 90], write: [480, 90], __end__: [760, 100] },
    examples: [{ name: "letter", input: { n: 0 } }],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const open = async (n: string) => {
    await expect(app.id("task-visits")).toContainText(`Visit ${n} of 3`);
    await app.id("exchange").getByRole("button", { expanded: false }).first().click();
    await app.id("exchange").locator('[data-testid="tab-changes"]').click();
  };
  await app.checkpoint(5).click();
  await app.node("write").click();
  await open("3");
  const changes = app.id("prompt-changes");
  await expect(changes).toContainText("Changes since the last call, at step 4");
  await expect(app.id("prompt-change")).toHaveCount(1);
  await expect(app.id("prompt-change")).toContainText("System prompt: changed");
  await expect(app.id("prompt-change").locator("del")).toHaveText("2");
  await expect(app.id("prompt-change").locator("ins")).toHaveText("3");
  await expect(changes).toContainText("1 equal message");
  await app.picture("prompt-changes", ["light", "dark"]);

  await page.locator('[data-testid="task-visit-previous"]').click();
  await page.locator('[data-testid="task-visit-previous"]').click();
  await open("1");
  await expect(app.id("exchanges")).toContainText("No earlier call of this node on this branch is recorded.");
});
