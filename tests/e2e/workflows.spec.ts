/**
 * Workflows built with the gestures of a person, counted: a pointer action and a text that is typed are one action each;
 * a key that confirms belongs to its text.
 */
import { expect, test, type Superstep } from "./superstep";

class Counted {
  pointer = 0;
  texts = 0;

  constructor(private readonly app: Superstep) {}

  async click(testIdOrSelector: string): Promise<void> {
    this.pointer += 1;
    await this.app.page.locator(testIdOrSelector).first().click();
  }

  async drag(from: string, to: string): Promise<void> {
    this.pointer += 1;
    await this.app.drag(this.app.page.locator(from), this.app.page.locator(to));
  }

  /** Types where the focus is, and confirms. */
  async type(text: string, ...then: string[]): Promise<void> {
    this.texts += 1;
    await this.app.page.keyboard.type(text);
    for (const key of then) await this.app.page.keyboard.press(key);
  }

  /** Writes into a field of the settings. */
  async fill(pointer: string, text: string, ...then: string[]): Promise<void> {
    await this.click(`[data-testid="inspector"] [data-pointer="${pointer}"] :is(input:not([aria-hidden=true]), textarea, .cm-content)`);
    await this.app.page.keyboard.press("Control+a");
    await this.type(text, ...then);
  }

  get all(): number {
    return this.pointer + this.texts;
  }
}

const id = (testId: string) => `[data-testid="${testId}"]`;

test("a triage: a router, two models, a question, the way back, and a run to its end", async ({ app, page }) => {
  const hand = new Counted(app);
  await app.open();
  await page.keyboard.press("Control+Alt+n");
  await expect(app.id("canvas")).toBeVisible();

  await page.keyboard.press("Tab");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("switch", "Enter");
  await expect(app.node("router")).toBeVisible();
  // The state key that comes in.
  await hand.click('[role="tab"]:has-text("State")');
  await hand.click(id("add-key"));
  await hand.type("message", "Enter");
  await hand.click(id("node-router"));
  for (const [at, label, when] of [[0, "refund", "'refund' in state.message"], [1, "question", "true"]] as const) {
    await hand.fill(`/config/ways/${at}/label`, label, "Tab");
    await hand.fill(`/config/ways/${at}/when`, when, "Escape");
  }
  await hand.fill("/config/into", "category", "Enter");

  // A click on a way adds what comes next.
  for (const [way, name] of [["refund", "model"], ["question", "model_2"]] as const) {
    await hand.click(id(`way-router-=${way}`));
    await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
    await hand.type("llm", "Enter");
    await expect(app.node(name)).toBeVisible();
    await hand.fill("/config/prompt", "Answer {{ state.message", "Escape");
    await hand.fill("/config/into", "reply", "Enter");
  }
  await hand.click(id("port-out-model"));
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await hand.type("human", "Enter");
  await expect(app.node("ask")).toBeVisible();
  await hand.fill("/config/question", "Send it?", "Tab");
  await hand.click('[data-pointer="/config/choices"] button:has-text("Add")');
  await hand.type("approve", "Enter");
  await hand.type("again", "Tab");
  await hand.fill("/config/into", "decision", "Enter");
  await page.keyboard.press("Control+1");
  await hand.drag(id("port-out-model_2"), id("port-in-ask"));
  await hand.drag(id("way-ask-=approve"), id("port-in-__end__"));
  await hand.drag(id("way-ask-=again"), id("port-in-router"));
  // What the first node was joined to the end by is not meant here.
  await hand.click('.react-flow__edge[aria-label="Edge from router to __end__"]');
  await page.keyboard.press("Delete");
  await expect(page.locator(".react-flow__edge")).toHaveCount(7);
  await app.picture("workflow-triage", ["light", "dark"]);

  await hand.click(id("run-with-input"));
  await expect(app.id("run-form").getByLabel("Message")).toBeFocused();
  await hand.type("a refund please", "Control+Enter");
  await app.status("asking");
  await hand.click(`${id("answer-choice")}:has-text("again")`);
  await expect(app.node("model").getByTestId("card-runs")).toHaveText("×2");
  await app.status("asking");
  await hand.click(id("run"));
  await expect(app.id("answer-choice").first()).toBeEnabled();
  await hand.click(`${id("answer-choice")}:has-text("approve")`);
  await app.status("done");
  console.log(`triage: ${hand.pointer} pointer actions, ${hand.texts} texts`);
  expect(hand.all).toBeLessThanOrEqual(54);
});
