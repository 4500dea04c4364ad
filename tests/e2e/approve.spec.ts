/** Answering: nothing is filled in for a person, all decisions about a tool, what has changed; and a node tried alone. */
import { readFileSync } from "node:fs";
import { expect, test, type Superstep } from "./superstep";

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

/** Asks each thread once whether a refund is paid; any answer ends it. */
const refunds = {
  format: "superstep/1",
  name: "Refunds",
  state: { customer: { type: "string" }, amount: { type: "number" }, verdict: { type: "string" } },
  nodes: {
    review: {
      kind: "ask",
      config: {
        question: "Refund {{ state.amount }} EUR to {{ state.customer }}?",
        choices: [
          { label: "Pay", value: "pay" },
          { label: "Reject", value: "reject" },
        ],
        context: ["customer", "amount"],
        into: "verdict",
      },
    },
  },
  edges: [
    { from: "__start__", to: "review" },
    { from: "review", to: "__end__" },
  ],
};

/** Opens the graph, and asks for each of these customers in a thread of its own. */
async function askFor(app: Superstep, customers: readonly (readonly [string, number])[]): Promise<void> {
  const path = await app.openGraph(refunds);
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path });
  for (const [at, [customer, amount]] of customers.entries()) {
    await app.rpc("run.start", { graphId, action: { type: "input", input: { customer, amount } } });
    await expect(app.id("inbox-count")).toHaveText(String(at + 1));
  }
  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(customers.length);
}

test("an answer is taken back by a key, and kept by a program that is killed", async ({ app, page }) => {
  await askFor(app, [["Ada", 40]]);
  await page.keyboard.press("Control+,");
  const kept = page.waitForResponse("**/rpc/settings.set");
  await app.id("settings-hold").fill("3600");
  await kept;
  await page.keyboard.press("Escape");
  await expect(app.id("settings-hold")).toHaveCount(0);

  const detail = app.id("question-detail");
  await expect(detail).toContainText("Refund 40 EUR to Ada?");
  await expect(app.id("answer-choice")).toHaveText([/^APay/, /^RReject/]);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("r");
  await expect(app.id("held-answers")).toContainText("reject · Refund 40 EUR to Ada?");
  await expect(app.id("question")).toHaveCount(0);
  await expect(app.id("desk-empty")).toContainText("1 answer is about to be sent.");
  await app.picture("approve-held", ["light", "dark"]);
  await page.keyboard.press("u");
  await expect(app.id("held-answers")).toHaveCount(0);
  await expect(detail).toContainText("Refund 40 EUR to Ada?");
  await expect(app.id("answer-choice").first()).toBeEnabled();

  await page.keyboard.press("n");
  await expect(app.id("answer-note")).toBeFocused();
  await page.keyboard.type("as agreed");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("a");
  await expect(app.id("held-answers")).toContainText("pay");
  await app.crash();
  await app.id("use-approve").click();
  await expect(app.id("held-answers")).toContainText("pay · Refund 40 EUR to Ada?");
  await app.id("give-now").click();
  await expect(app.id("held-answers")).toHaveCount(0);
  const threads = async () => (await app.rpc<{ threads: { status: string }[] }>("thread.list", {})).threads;
  await expect.poll(threads).toMatchObject([{ status: "done" }]);

  // What was answered, when and why.
  await app.id("history-open").click();
  await expect(app.id("history-row")).toHaveCount(1);
  await expect(app.id("history-detail")).toContainText("Taken by the thread");
  await expect(app.id("history-detail")).toContainText("Note: as agreed");
  await app.picture("approve-history", ["light", "dark"]);
  await app.id("history-search").fill("nothing like it");
  await expect(app.id("history-row")).toHaveCount(0);
  await app.id("history-search").fill("ada agreed");
  await expect(app.id("history-row")).toHaveCount(1);
  await app.id("history-export").click();
  const saved = page.waitForResponse("**/rpc/answers.export");
  await app.id("file-path").fill(app.path("answers.csv"));
  await page.keyboard.press("Enter");
  expect((await saved).ok()).toBe(true);
  expect(readFileSync(app.path("answers.csv"), "utf8")).toContain('"pay","as agreed"');
  await app.id("history-back").click();
  await expect(app.id("desk-empty")).toBeVisible();
});

test("find, group and answer questions together after one look at what differs", async ({ app, page }) => {
  await askFor(app, [["Ada", 40], ["Ben", 41], ["Cleo", 900]]);

  await page.keyboard.press("/");
  await expect(app.id("desk-search")).toBeFocused();
  await page.keyboard.type("cleo");
  await expect(app.id("question")).toHaveCount(1);
  await expect(app.id("desk-count")).toHaveText("1 of 3");
  await expect(app.id("question-detail")).toContainText("Refund 900 EUR to Cleo?");
  await page.keyboard.press("Escape");
  await expect(app.id("question")).toHaveCount(3);

  // Put off: it is listed by itself until its time is over.
  await page.keyboard.press("s");
  await expect(app.id("question")).toHaveCount(2);
  await app.id("desk-filter").click();
  await page.getByRole("checkbox", { name: "Snoozed (1)" }).click();
  await expect(app.id("question")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await app.id("question-menu").click();
  await page.getByRole("menuitem", { name: "End snooze" }).click();
  await expect(app.id("question")).toHaveCount(0);
  await page.getByRole("button", { name: "Show all questions" }).first().click();
  await expect(app.id("question")).toHaveCount(3);

  await page.keyboard.press("g");
  await expect(app.id("question")).toHaveCount(1);
  await expect(app.id("alike-count")).toHaveText("×3");
  const rows = app.id("alike-row");
  await expect(rows).toHaveCount(3);
  await expect(app.id("alike-page").getByRole("columnheader")).toHaveText(["", "Question", "customer", "amount"]);
  await rows.filter({ hasText: "900" }).getByRole("checkbox").click();
  await expect(app.id("alike-chosen")).toHaveText("2 alike questions");
  await app.picture("approve-alike", ["light", "dark"]);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("a");
  await expect(app.id("alike-count")).toHaveCount(0);
  await expect(app.id("question")).toHaveCount(1);
  await expect(app.id("question-detail")).toContainText("Refund 900 EUR to Cleo?");
});

test("the questions of a step are decided on one page and sent together", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Pages",
    state: { pages: { type: "array" }, signed: { type: "array", reducer: "append" } },
    nodes: {
      list: { kind: "assign", config: { set: { pages: "['one', 'two', 'three']" } } },
      sign: {
        kind: "ask",
        config: {
          question: "Sign page {{ state.page }}?",
          choices: [
            { label: "Sign", value: "signed" },
            { label: "Skip", value: "skip" },
          ],
          into: "signed",
        },
      },
    },
    edges: [
      { from: "__start__", to: "list" },
      { from: "list", each: "state.pages", as: "page", to: "sign" },
      { from: "sign", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-approve").click();
  await expect(app.id("step-page").getByTestId("answer-form")).toHaveCount(3);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("a");
  await expect(app.id("step-page").getByTestId("answer-form")).toHaveCount(2);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("r");
  await expect(app.id("step-page").getByTestId("answer-form")).toHaveCount(1);
  await app.picture("approve-step", ["light", "dark"]);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("a");
  await expect(app.id("step-send")).toBeFocused();
  await expect(app.id("step-send")).toHaveText("Send 3 answers");
  await page.keyboard.press("Enter");
  await expect(app.id("question")).toHaveCount(0);
  await app.id("use-debug").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("signed")).toContainText("skip");
});

test("ten thousand questions are searched and walked through", async ({ app, page }) => {
  const all = Array.from({ length: 10_000 }, (_, n) => ({
    interruptId: `q${n}`,
    threadId: `t${n}`,
    threadTitle: `Case ${n}`,
    graphName: `Graph ${n % 6}`,
    node: "review",
    text: `Allow person ${n}?`,
    choices: [{ label: "Allow", value: "allow" }, { label: "Deny", value: "deny" }],
    context: { person: n },
    value: null,
    checkpointId: `c${n}`,
    since: new Date().toISOString(),
  }));
  await page.route("**/rpc/inbox.list", async (route) => {
    const { after = 0, limit = 100 } = route.request().postDataJSON() as { after?: number; limit?: number };
    const to = Number(after) + limit;
    const next = to < all.length ? { next: String(to) } : {};
    await route.fulfill({ json: { questions: all.slice(Number(after), to), waiting: all.length, ...next } });
  });
  await app.open();
  await app.id("use-approve").click();
  await expect(app.id("question-detail")).toContainText("Allow person 0?");
  // The last one is found once all of them have come.
  await page.keyboard.press("/");
  await page.keyboard.type("9999");
  await expect(app.id("question-detail")).toContainText("Allow person 9999?");
  await expect(app.id("desk-count")).toHaveText(/^1 of 10.000$/);
  await page.keyboard.press("Escape");
  await expect(app.id("desk-count")).toHaveText(/^10.000 questions$/);
  // Only what is in view is drawn.
  expect(await app.id("question").count()).toBeLessThan(60);
  await page.keyboard.press("g");
  await expect(app.id("question")).toHaveCount(6);
  await expect(app.id("alike-chosen")).toContainText("alike questions");
  expect(await app.id("alike-row").count()).toBeLessThan(60);
});

const sends = (name: string, args: unknown, description?: string) => ({
  name,
  args,
  allowed: ["approve", "reject"],
  ...(description !== undefined && { description }),
});

/** A question in a form of LangChain's agents, as the workbench reads it. */
function reviewed(id: string, calls: ReturnType<typeof sends>[], more: Record<string, unknown>) {
  const each = (word: string) => ({ decisions: calls.map(() => ({ type: word })) });
  const all = calls.length > 1 ? " all" : "";
  return {
    interruptId: id,
    threadId: `t-${id}`,
    threadTitle: `Agent ${id}`,
    graphName: "agent.py",
    node: "HumanInTheLoopMiddleware.after_model",
    text: calls.length > 1 ? "May these 2 tool calls run: `pay`, `send`?" : "May the tool `pay` run?",
    choices: [
      { label: `Approve${all}`, value: each("approve") },
      { label: `Reject${all}`, value: each("reject") },
    ],
    context: {},
    value: null,
    checkpointId: `c-${id}`,
    since: new Date().toISOString(),
    calls: { form: "decisions", calls },
    ...more,
  };
}

const decision = (title: string, word: string, more: Record<string, unknown> = {}, required: string[] = []) => ({
  title,
  type: "object",
  required: ["type", ...required],
  properties: { type: { const: word }, ...more },
});

test("a question of a LangChain agent is shown as its calls and answered in its form", async ({ app, page }) => {
  const approve = decision("Approve", "approve");
  const reject = decision("Reject", "reject", { message: { type: "string", title: "Reason" } });
  const args = { type: "object", title: "Arguments", properties: { eur: { type: "number" } }, default: { eur: 900 } };
  const action = { type: "object", title: "Call", required: ["name", "args"], properties: { name: { const: "pay" }, args } };
  const one = [{ ...sends("pay", { eur: 900 }), allowed: ["approve", "edit", "reject"] }];
  const two = [sends("pay", { eur: 900 }, "The yearly fee."), sends("send", { to: "ada@example.org" })];
  const questions = [
    reviewed("one", one, { schema: { oneOf: [approve, decision("Edit", "edit", { edited_action: action }, ["edited_action"]), reject] } }),
    reviewed("two", two, {
      schema: {
        type: "object",
        required: ["1", "2"],
        properties: { 1: { title: "1. pay", oneOf: [approve, reject] }, 2: { title: "2. send", oneOf: [approve, reject] } },
      },
    }),
  ];
  await page.route("**/rpc/inbox.list", (route) => route.fulfill({ json: { questions, waiting: 2 } }));
  const answers = async (expected: unknown) => {
    await app.id("answer-form").getByRole("tab", { name: "JSON" }).click();
    const lines = app.id("answer-json").locator(".cm-line");
    await expect(async () => {
      expect(JSON.parse((await lines.allTextContents()).join(""))).toEqual(expected);
    }).toPass();
  };
  await app.open();
  await app.id("use-approve").click();
  const call = app.id("asked-call");
  await expect(call).toHaveText(/^payAllowed: approve, edit, reject.*eur.*900/);
  await expect(app.id("answer-choice")).toHaveText([/Approve/, /Reject/, /Edit…/]);
  await app.picture("approve-call", ["light", "dark"]);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("3");
  await expect(page.getByLabel("Eur")).toBeFocused();
  await page.keyboard.type("50");
  await answers({ decisions: [{ type: "edit", edited_action: { name: "pay", args: { eur: 50 } } }] });

  await app.id("question").nth(1).click();
  await expect(call).toHaveCount(2);
  await expect(call.first()).toContainText("The yearly fee.");
  await expect(app.id("answer-choice")).toHaveText([/Approve all/, /Reject all/, /Each by itself…/]);
  await expect(page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
  await page.keyboard.press("3");
  await expect(app.id("answer-submit")).toBeDisabled();
  for (const [label, choice] of [["1. pay", "Approve"], ["2. send", "Reject"]] as const) {
    await page.getByRole("combobox", { name: label }).click();
    await page.getByRole("option", { name: choice }).click();
  }
  await app.picture("approve-calls", ["light", "dark"]);
  await expect(app.id("answer-submit")).toBeEnabled();
  await answers({ decisions: [{ type: "approve" }, { type: "reject" }] });
});

test("an answer of two hundred fields is folded, searched, and leads to what is missing", async ({ app, page }) => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`field_${n}`, n === 150 ? { type: "string", title: "IBAN", minLength: 4 } : { type: "string" }]),
  );
  await app.openGraph({
    format: "superstep/1",
    name: "Form",
    state: { form: { type: "object" } },
    nodes: {
      fill: {
        kind: "ask",
        config: { question: "Fill this in", answer: { type: "object", required: ["field_3"], properties }, into: "form" },
      },
    },
    edges: [
      { from: "__start__", to: "fill" },
      { from: "fill", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-approve").click();
  const form = app.id("question-detail");
  await expect(page.getByRole("textbox", { name: "Field 3", exact: true })).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Field 100", exact: true })).toHaveCount(0);
  await expect(form.getByRole("button", { name: /^Field 0 – Field 20/ })).toBeVisible();
  await app.picture("approve-fields", ["light", "dark"]);

  await app.id("answer-search").fill("iban");
  await page.getByRole("textbox", { name: "IBAN" }).fill("DE");
  await app.id("answer-search").fill("");
  await expect(page.getByRole("textbox", { name: "IBAN" })).toHaveCount(0);
  await page.getByRole("textbox", { name: "Field 3", exact: true }).fill("x");
  await expect(app.id("answer-missing")).toContainText("IBAN");
  await app.id("answer-go-to").click();
  await expect(page.getByRole("textbox", { name: "IBAN" })).toBeFocused();
  // What opened for it closes by hand, and opens again when it is asked for again.
  const drawer = form.getByRole("button", { name: /^Field 141 – / });
  await drawer.click();
  await expect(page.getByRole("textbox", { name: "IBAN" })).toHaveCount(0);
  await app.id("answer-go-to").click();
  await expect(page.getByRole("textbox", { name: "IBAN" })).toBeFocused();
  await page.getByRole("textbox", { name: "IBAN" }).fill("DE00");
  await expect(app.id("answer-missing")).toHaveCount(0);
  await app.id("answer-submit").click();
  await expect(app.id("question")).toHaveCount(0);
});

test("an answer of twelve sections is filled by the keyboard alone", async ({ app, page }) => {
  const section = (n: number) => ({
    type: "object",
    title: `Part ${n}`,
    required: ["name"],
    properties: {
      name: { type: "string", title: `Name ${n}` },
      ...Object.fromEntries(
        Array.from({ length: 16 }, (_, m) => [`field_${m}`, { type: "string", ...(n === 7 && m === 3 && { title: "IBAN" }) }]),
      ),
    },
  });
  const names = Array.from({ length: 12 }, (_, n) => `part_${n}`);
  const answer = { type: "object", required: names, properties: Object.fromEntries(names.map((name, n) => [name, section(n)])) };
  await app.openGraph({
    format: "superstep/1",
    name: "Parts",
    state: { form: { type: "object" } },
    nodes: { fill: { kind: "ask", config: { question: "Fill this in", answer, into: "form" } } },
    edges: [
      { from: "__start__", to: "fill" },
      { from: "fill", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("use-approve").click();
  const form = app.id("question-detail");
  await expect(form.getByRole("button", { name: /^Part 0/ })).toHaveAttribute("aria-expanded", "false");
  await expect(page.getByRole("textbox", { name: "Name 0" })).toHaveCount(0);
  await app.picture("approve-sections", ["light", "dark"]);

  // Found, filled, and the search ended with a key.
  await app.id("answer-search").focus();
  await page.keyboard.type("iban");
  await expect(app.id("answer-found")).toHaveText("1 field has these words");
  await expect(page.getByRole("textbox", { name: "IBAN" })).toBeVisible();
  await app.picture("approve-sections-found", ["light"]);
  await page.getByRole("textbox", { name: "IBAN" }).focus();
  await page.keyboard.type("DE00");
  await app.id("answer-search").focus();
  await page.keyboard.press("Escape");
  await expect(app.id("answer-search")).toHaveValue("");

  // What is missing, one after the other; the last key sends.
  await expect(app.id("answer-missing")).toContainText("11 more problems");
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press("F7");
    await expect(page.getByRole("textbox", { name: `Name ${n}`, exact: true })).toBeFocused();
    await page.keyboard.type(`name ${n}`);
  }
  await expect(app.id("answer-missing")).toHaveCount(0);
  await page.keyboard.press("Control+Enter");
  await expect(app.id("question")).toHaveCount(0);
  await app.id("use-debug").click();
  await app.status("done");
  const { threads } = await app.rpc<{ threads: { threadId: string }[] }>("thread.list", {});
  const snapshot = JSON.stringify(await app.rpc("thread.snapshot", { threadId: threads[0]?.threadId }));
  expect(snapshot).toContain("DE00");
  expect(snapshot).toContain("name 11");
});

test("a question is put off and handed on for every window, and the history shows it", async ({ app, page }) => {
  await askFor(app, [["Ada", 40], ["Ben", 41]]);
  await page.keyboard.press("s");
  await expect(app.id("question")).toHaveCount(1);
  await page.reload();
  await app.id("use-approve").click();
  await expect(app.id("question"), "another window knows").toHaveCount(1);
  await expect(app.id("question-detail")).toContainText("Refund 41 EUR to Ben?");

  await page.keyboard.press("d");
  await app.id("hand-to").fill("Grace, Kim");
  await app.id("hand-why").fill("holidays");
  await page.keyboard.press("Enter");
  await expect(app.id("question-handed")).toContainText("For Grace, Kim");
  await expect(app.id("question-detail")).toContainText("holidays");
  await app.picture("approve-handed", ["light", "dark"]);

  await app.id("history-open").click();
  await expect(app.id("history-row")).toContainText("For Grace, Kim");
  await app.id("history-check").click();
  await expect(app.id("answer-chain")).toContainText("The 1 entry is as it was noted.");
  await app.picture("approve-chain", ["light", "dark"]);
  await app.id("answer-chain-noted").fill("0000");
  await expect(app.id("answer-chain")).toContainText("No entry has the noted hash");
  await page.keyboard.press("Escape");
  await app.id("history-back").click();

  await app.id("question-menu").click();
  await page.getByRole("menuitem", { name: "End delegation" }).click();
  await expect(app.id("question-handed")).toHaveCount(0);
});
