/** The past and its branches: nothing runs from there by accident, what would work again is asked, questions keep waiting. */
import { expect, test, type Superstep } from "./superstep";

/** Asks each thread once; any answer ends it. */
const graph = {
  format: "superstep/1",
  name: "Doors",
  state: {
    person: { type: "string" },
    verdict: { type: "string" },
    note: { type: "string" },
  },
  nodes: {
    look: { kind: "assign", config: { set: { note: "'looked at ' ~ state.person" } } },
    gate: {
      kind: "ask",
      config: {
        question: "Open the door for {{ state.person }}?",
        choices: [
          { label: "Open", value: "open" },
          { label: "Keep shut", value: "shut" },
        ],
        into: "verdict",
      },
    },
  },
  edges: [
    { from: "__start__", to: "look" },
    { from: "look", to: "gate" },
    { from: "gate", to: "__end__" },
  ],
};

async function ask(app: Superstep, person: string): Promise<void> {
  await app.id("run-with-input").click();
  const where = app.id("run-form").getByRole("tab", { name: "New thread" });
  if (await where.isVisible()) await where.click();
  await app.id("run-form").getByLabel("person").fill(person);
  await app.id("run-start").click();
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText(person);
}

const checkpoints = (app: Superstep) => app.id("checkpoints").locator('[data-testid="checkpoint"]');

test("an empty form says what is missing", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await page.keyboard.press("F5");
  await expect(app.id("run-input-missing")).toContainText("Fill in person");
  await app.id("run-form").getByLabel("person").fill("Ada");
  await expect(app.id("run-input-missing")).toHaveCount(0);
  await app.id("run").click();
  await app.status("asking");
});

test("no key runs anything from the past; Replay does, and asks what works again first", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await ask(app, "Ada");
  await app.id("answer-choice").first().click();
  await app.status("done");
  const before = await checkpoints(app).count();
  await app.checkpoint(0, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.id("run")).toHaveAttribute("data-action", "now");
  for (const key of ["F5", "F8", "F10", "F11"]) await page.keyboard.press(key);
  await expect(app.id("toast")).toContainText("Replay (Ctrl+Shift+F5) runs again from this checkpoint");
  await expect(checkpoints(app)).toHaveCount(before);
  await expect(app.id("past"), "the past is still shown").toBeVisible();

  // Something was done after this checkpoint: it is asked about, and no is no.
  const effect = {
    node: "look",
    path: [],
    effect: "once",
    kind: "tool",
    times: 1,
    lastAt: new Date().toISOString(),
    state: "done",
    checkpointId: "c",
    result: { kind: "object", bytes: 14, length: 1, value: { note: "looked" } },
    reusable: true,
  };
  await page.route("**/rpc/run.effects", (route) =>
    route.fulfill({ json: { effects: [effect], questionsLeft: 1 } }),
  );
  // Off while the moment is still being read.
  await expect(app.id("run-replay")).toBeEnabled();
  await page.keyboard.press("Control+Shift+F5");
  await expect(app.id("effects-go")).toHaveText("Replay: repeats no side effect");
  await expect(app.id("effects-left")).toContainText("1 question of the other branch keeps waiting");
  await page.keyboard.press("Escape");
  await expect(app.id("effects")).toHaveCount(0);
  await expect(checkpoints(app)).toHaveCount(before);

  // By keys alone: to the choice, another one, and back to the button.
  await app.id("run-replay").focus();
  await page.keyboard.press("Enter");
  await expect(app.id("effects-go")).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await expect(app.id("effect").locator("input:checked")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(app.id("effects-go")).toHaveText("Replay: 1 node runs again");
  await page.keyboard.press("ArrowLeft");
  const started = page.waitForRequest("**/rpc/run.start");
  await app.id("effects-go").click();
  expect((await started).postDataJSON()).toMatchObject({ action: { type: "replay" }, effects: { look: "reuse" } });
  await page.unroute("**/rpc/run.effects");
  await app.status("asking");
});

test("an answered question leaves at once, and the next takes no press for a moment", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  for (const person of ["Ada", "Ben", "Cleo"]) await ask(app, person);
  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(3);
  const detail = app.id("question-detail");
  await expect(detail).toContainText("Ada");

  // The answer takes its time on the way; the list does not wait for it.
  await page.route("**/rpc/answer.give", async (route) => {
    await new Promise((done) => setTimeout(done, 1000));
    await route.continue();
  });
  const answered = page.waitForResponse("**/rpc/answer.give");
  // Held down: one answer. The second press comes at once, was meant for Ada, and opens nothing for Ben.
  await page.keyboard.down("a");
  await page.keyboard.down("a");
  await page.keyboard.down("a");
  await page.keyboard.up("a");
  await page.keyboard.press("a");
  await expect(detail).toContainText("Ben");
  await expect(app.id("question")).toHaveCount(2);
  await expect(app.id("inbox-count")).toHaveText("2");
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await expect(app.id("question")).toHaveCount(2);

  // A refusal brings the row back, selected, with the reason.
  await answered;
  await page.unroute("**/rpc/answer.give");
  await page.route("**/rpc/answer.give", (route) =>
    route.fulfill({ status: 400, json: { code: "invalid-request", message: "The door is stuck." } }),
  );
  await page.keyboard.press("2");
  await expect(app.id("question-refused")).toContainText("The door is stuck.");
  await expect(detail).toContainText("Ben");
  await expect(app.id("question")).toHaveCount(2);

  // Somebody else was faster.
  await page.unroute("**/rpc/answer.give");
  await page.route("**/rpc/answer.give", (route) =>
    route.fulfill({ status: 409, json: { code: "already-answered", message: "It was answered." } }),
  );
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await page.keyboard.press("a");
  await expect(app.id("toast").filter({ hasText: "Already answered elsewhere" })).toBeVisible();
  await page.unroute("**/rpc/answer.give");
});

test("a question of a branch that was left keeps waiting, is answered there, and can be withdrawn", async ({
  app,
  page,
}) => {
  await app.openGraph(graph);
  await app.id("use-debug").click();
  await ask(app, "Ada");
  // A fork by an edit in the past: its own question comes beside the one that waits.
  await app.checkpoint(0, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await app.key("person").hover();
  await app.key("person").locator('[data-testid="state-edit"]').click();
  await app.id("state-edit-field").locator("input, textarea").first().fill("Zoe");
  await app.id("state-edit-done").click();
  await expect(app.id("edit-preview")).toContainText("look");
  await app.id("edit-apply").click();
  await expect(app.checkpoint(1, "update")).toBeVisible();
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("answer-banner")).toContainText("Zoe");

  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(2);
  const old = app.id("question").filter({ hasText: "door for Ada" });
  await expect(old.locator('[data-testid="question-branch"]')).toContainText("another branch · step 1");
  await old.click();
  await page.getByRole("button", { name: "Show in Debug" }).click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.id("answer-banner")).toContainText("Ada");
  await expect(app.id("run")).toHaveAttribute("data-action", "answer");
  await app.id("answer-choice").filter({ hasText: "Keep shut" }).click();
  await app.status("done");
  await app.showState();
  await expect(app.key("verdict")).toContainText("shut");
  await expect(app.key("person")).toContainText("Ada");

  // The other one is the old branch now; nobody needs its answer.
  await app.id("use-approve").click();
  await expect(app.id("question")).toHaveCount(1);
  await expect(app.id("question-branch")).toBeVisible();
  await app.id("question-menu").click();
  await page.getByRole("menuitem", { name: "Withdraw…" }).click();
  await app.id("withdraw-why").fill("Zoe went home");
  const withdrawn = page.waitForRequest("**/rpc/question.withdraw");
  await app.id("confirm").click();
  expect((await withdrawn).postDataJSON()).toMatchObject({ why: "Zoe went home" });
  await expect(app.id("question")).toHaveCount(0);
  await page.reload();
  await app.id("use-approve").click();
  await expect(page.getByText("No questions waiting")).toBeVisible();
});

test("what must not be repeated is not repeated by a replay, unless a person says so", async ({ app, page }) => {
  const shop = {
    format: "superstep/1",
    name: "Shop",
    state: { order: { type: "string" }, receipt: { type: "number" } },
    nodes: { pay: { kind: "code", effect: "once", config: { source: "return { receipt: Math.random() }" } } },
    edges: [
      { from: "__start__", to: "pay" },
      { from: "pay", to: "__end__" },
    ],
  };
  await app.openGraph(shop);
  await app.id("use-debug").click();
  await app.id("run-form").getByLabel("order").fill("a lamp");
  await app.id("run-start").click();
  await app.status("done");
  await app.showState();
  const receipt = async () => (await app.key("receipt").innerText()).match(/0\.\d+/)?.[0];
  await expect(app.key("receipt")).toContainText("0.");
  const first = await receipt();

  const replay = async () => {
    await app.checkpoint(0, "loop").first().click();
    await expect(app.id("past")).toBeVisible();
    await app.id("run-replay").click();
    await expect(app.id("effect")).toContainText("Must not be repeated (once)");
  };
  await replay();
  await expect(app.id("effect")).toContainText(first ?? "?");
  await expect(app.id("effects-go")).toHaveText("Replay: repeats no side effect");
  await app.id("effects-go").click();
  await expect(app.id("past")).toHaveCount(0);
  await app.status("done");
  await app.showState();
  await expect(app.key("receipt"), "its result is used again").toContainText(first ?? "?");

  await replay();
  await app.id("effect").getByText("Ask when reached").click();
  await app.id("effects-go").click();
  await app.status("asking");
  await expect(app.id("earlier-work")).toContainText("pay did its work already");
  await expect(app.id("earlier-work")).toContainText(first ?? "?");
  await app.id("answer-choice").filter({ hasText: "Do it again" }).click();
  await app.status("done");
  await app.showState();
  await expect(app.key("receipt"), "a person said so").not.toContainText(first ?? "?");
});

test("Pause lets the step finish; a step of the past is skipped and the rest runs again", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Slow",
    state: { log: { type: "array", items: { type: "string" }, reducer: "append", default: [] } },
    nodes: {
      slow: {
        kind: "code",
        config: {
          source: "const end = Date.now() + 6000; while (Date.now() < end) {} return {log: ['slow']};",
          timeout_ms: 60_000,
        },
      },
      after: { kind: "assign", config: { set: { log: "'after'" } } },
    },
    edges: [
      { from: "__start__", to: "slow" },
      { from: "slow", to: "after" },
      { from: "after", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  await expect(app.id("run-pause"), "nothing runs: nothing to pause").toHaveCount(0);
  await app.id("run").click();
  await app.status("running");
  await expect(app.id("run-step"), "while it runs Pause has the place of Step").toHaveCount(0);
  await app.id("run-pause").click();
  await expect(app.id("run-pause")).toBeDisabled();
  await expect(app.id("run-status")).toContainText("Pausing after this step");
  await app.status("paused");
  await expect(app.id("run-status")).toContainText("after");
  await app.id("run").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("log")).toContainText("slow");

  const count = await checkpoints(app).count();
  await app.checkpoint(0, "loop").hover();
  await app.checkpoint(0, "loop").locator('[data-testid="checkpoint-menu"]').click();
  await page.getByRole("menuitem", { name: "Skip slow and run the rest" }).click();
  await app.status("done");
  await expect(checkpoints(app)).toHaveCount(count + 2);
  await expect(app.id("checkpoints")).toContainText("Skipped slow");
  await app.showState();
  await expect(app.key("log")).toContainText("after");
  await expect(app.key("log")).not.toContainText("slow");
});
