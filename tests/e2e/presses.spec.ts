/** Forty mixed questions are answered by keys alone, and each press counts. */
import { type Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const asking = (name: string, question: string, labels: readonly string[]) => ({
  format: "superstep/1",
  name,
  state: { number: { type: "number" }, verdict: { type: "string" } },
  nodes: {
    review: {
      kind: "ask",
      config: { question, choices: labels.map((label) => ({ label, value: label.toLowerCase() })), context: ["number"], into: "verdict" },
    },
  },
  edges: [
    { from: "__start__", to: "review" },
    { from: "review", to: "__end__" },
  ],
});

/** A model wants to pay; a person may change how much. */
const payment = {
  format: "superstep/1",
  name: "Payments",
  state: { messages: { type: "array", reducer: "add_messages" } },
  nodes: {
    model: {
      kind: "model",
      config: { model: "scripted", messages: "messages", into: "messages", tools_of: "tools", script: [{ calls: [{ tool: "pay", args: { amount: 900 } }] }] },
    },
    tools: {
      kind: "tools",
      config: {
        messages: "messages",
        tools: [
          {
            name: "pay",
            description: "Pays.",
            approval: true,
            parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
            javascript: { source: "return `paid ${args.amount}`" },
          },
        ],
      },
    },
  },
  edges: [
    { from: "__start__", to: "model" },
    { from: "model", to: "tools" },
    { from: "tools", to: "__end__" },
  ],
};

/** Thirty questions of two choices, six of four, four whose arguments are to be changed; mixed. */
async function askForty(app: Superstep): Promise<void> {
  await app.open();
  const graphs = {
    refund: asking("Refunds", "Refund {{ state.number }} EUR?", ["Pay", "Reject"]),
    parcel: asking("Parcels", "Where does parcel {{ state.number }} go?", ["Return", "Store", "Repair", "Scrap"]),
    payment,
  };
  const ids = new Map<string, string>();
  for (const [name, graph] of Object.entries(graphs)) {
    const path = app.write(`graphs/${name}/graph.json`, graph);
    ids.set(name, (await app.rpc<{ graphId: string }>("graph.open", { path })).graphId);
  }
  for (let n = 0; n < 40; n += 1) {
    const name = n % 10 === 9 ? "payment" : n % 5 === 3 && n < 33 ? "parcel" : "refund";
    const input = name === "payment" ? { messages: [{ type: "human", content: `Case ${n}` }] } : { number: n };
    await app.rpc("run.start", { graphId: ids.get(name), action: { type: "input", input } });
  }
  await expect.poll(async () => (await app.rpc<{ questions: unknown[] }>("inbox.list", {})).questions.length).toBe(40);
  await app.id("use-approve").click();
}

/** Presses keys on the questions that are shown, and counts. */
class Hand {
  presses = 0;

  constructor(
    private readonly app: Superstep,
    private readonly page: Page,
  ) {}

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await expect(this.page.locator("[data-guarded]"), "what appeared by itself takes keys").toHaveCount(0);
      await this.page.keyboard.press(key);
      this.presses += 1;
    }
  }

  /** Answers the question that is shown: pays, stores, or changes the amount to 50. */
  async answer(): Promise<void> {
    const text = (await this.app.id("answer-form").textContent()) ?? "";
    const sent = this.page.waitForResponse(/rpc\/(answer\.give|run\.start)/);
    if (text.startsWith("Refund")) await this.press("a");
    else if (text.startsWith("Where")) await this.press("2");
    else {
      await this.press("3");
      await expect(this.page.getByLabel("Amount")).toBeFocused();
      await this.press("5", "0", "Control+Enter");
    }
    expect((await sent).ok()).toBe(true);
  }
}

/** How many threads ended, and how many questions are left. */
async function outcome(app: Superstep): Promise<{ done: number; waiting: number }> {
  const { threads } = await app.rpc<{ threads: { status: string }[] }>("thread.list", { limit: 100 });
  const { questions } = await app.rpc<{ questions: unknown[] }>("inbox.list", {});
  return { done: threads.filter(({ status }) => status === "done").length, waiting: questions.length };
}

test("forty mixed questions are answered in sixty presses", async ({ app, page }) => {
  await askForty(app);
  const hand = new Hand(app, page);
  for (let left = 40; left > 0; left -= 1) {
    await hand.answer();
    await expect(app.id("desk-empty").or(app.id("question-detail"))).toBeVisible();
  }
  await expect(app.id("desk-empty")).toBeVisible();
  await expect.poll(() => outcome(app)).toEqual({ done: 40, waiting: 0 });
  console.log(`forty questions: ${hand.presses} presses`);
  expect(hand.presses).toBeLessThanOrEqual(60);
});

test("with alike ones together, in thirty", async ({ app, page }) => {
  await askForty(app);
  const hand = new Hand(app, page);
  await hand.press("g");
  await expect(app.id("question")).toHaveCount(3);
  await expect(app.id("alike-chosen")).toHaveText("30 alike questions");
  await hand.press("a");
  await expect(app.id("alike-chosen")).toHaveText("6 alike questions");
  await hand.press("2");
  await expect(app.id("alike-chosen")).toHaveText("4 alike questions");
  await hand.press("g");
  for (let left = 4; left > 0; left -= 1) {
    await expect(app.id("question")).toHaveCount(left);
    await hand.answer();
  }
  await expect(app.id("desk-empty")).toBeVisible();
  await expect.poll(() => outcome(app)).toEqual({ done: 40, waiting: 0 });
  console.log(`forty questions with groups: ${hand.presses} presses`);
  expect(hand.presses).toBeLessThanOrEqual(30);
});
