/** The triage of the guide, built and run with the keyboard alone: no pointer anywhere. */
import { expect, test, type Superstep } from "./superstep";

/** Keys as a person presses them, and what is seen in between. */
class Keys {
  constructor(private readonly app: Superstep) {}

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.app.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.app.page.keyboard.type(text);
  }

  /** Runs a command of the palette. */
  async command(words: string): Promise<void> {
    await this.press("Control+k");
    await expect(this.app.id("command-palette").getByRole("combobox")).toBeFocused();
    await this.type(words);
    await this.press("Enter");
    // It gives the focus back when it has gone, and the command takes it then.
    await expect(this.app.id("command-palette")).toHaveCount(0);
  }

  focused() {
    return this.app.page.locator(":focus");
  }

  /** Tab until the focus is within this part of the page. */
  async tabTo(selector: string): Promise<void> {
    // What is not drawn yet has no place in the order of Tab.
    await expect(this.app.page.locator(selector).first()).toBeVisible();
    const within = this.app.page.locator(`:is(${selector}):focus, :is(${selector}) :focus`);
    for (let tries = 0; tries < 60; tries += 1) {
      if ((await within.count()) > 0) return;
      await this.press("Tab");
    }
    throw new Error(`Tab does not come to ${selector}`);
  }

  /** Writes into a field of the settings. */
  async fill(pointer: string, text: string, ...then: string[]): Promise<void> {
    await this.tabTo(`[data-pointer="${pointer}"] :is(input, textarea, .cm-content)`);
    await this.press("Control+a");
    await this.type(text);
    // Escape closes the list of completions, which comes a moment later; without one it leaves the field.
    if (then[0] === "Escape") await expect(this.app.page.locator(".cm-tooltip-autocomplete")).toBeVisible();
    await this.press(...then);
    if (then[0] === "Escape") await expect(this.app.page.locator(`[data-pointer="${pointer}"] :focus`)).toHaveCount(1);
  }

  /** To a row of the outline, from wherever the focus is. */
  async row(id: string): Promise<void> {
    await this.press("Control+Shift+O");
    await expect(this.app.page.locator('[role="treeitem"]:focus')).toHaveCount(1);
    await this.press("Home");
    for (let tries = 0; tries < 40; tries += 1) {
      if ((await this.focused().getAttribute("data-testid")) === id) return;
      await this.press("ArrowDown");
    }
    throw new Error(`there is no row ${id}`);
  }

  /** To the settings of a node. */
  async settings(row: string): Promise<void> {
    await this.row(row);
    await this.press("Enter");
    await expect(this.app.id("inspector").locator(":focus")).toHaveCount(1);
  }
}

test("the triage is built and run to its end by keys alone", async ({ app, page }) => {
  const keys = new Keys(app);
  const rename = async (name: string) => {
    await keys.press("F2");
    await keys.type(name);
    await keys.press("Enter");
    await expect(app.id(`outline-node-${name}`)).toBeVisible();
  };
  await app.open();
  await keys.press("Control+Alt+n");
  await expect(app.id("canvas")).toBeVisible();

  // An empty outline offers the first node.
  await keys.press("Control+Shift+O");
  await expect(app.id("outline").getByRole("button")).toBeFocused();
  await keys.press("Enter");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await keys.type("switch");
  await keys.press("Enter");
  await expect(app.id("outline-node-router")).toBeFocused();
  await rename("triage");

  await keys.command("State keys");
  await expect(keys.focused()).toHaveText("Add key");
  await keys.press("Enter");
  await expect(page.locator("input:focus")).toHaveCount(1);
  await keys.type("message");
  await keys.press("Enter");

  // The ways, named where they are listed.
  for (const [from, to] of [["yes", "refund"], ["no", "question"]] as const) {
    await keys.row(`outline-way-triage-${from}`);
    await keys.press("F2");
    await keys.type(to);
    await keys.press("Enter");
    await expect(app.id(`outline-way-triage-${to}`)).toBeVisible();
  }
  await keys.settings("outline-node-triage");
  await keys.fill("/config/ways/0/when", "'refund' in state.message", "Escape");
  await keys.fill("/config/ways/1/when", "true", "Escape");
  await keys.fill("/config/into", "category", "Enter");

  // A model for each way, and a person after both.
  for (const [way, name] of [["refund", "refund_reply"], ["question", "answer"]] as const) {
    await keys.row(`outline-way-triage-${way}`);
    await keys.press("n");
    await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
    await keys.type("llm");
    await keys.press("Enter");
    await expect(app.id("outline-node-model")).toBeFocused();
    await rename(name);
    await keys.settings(`outline-node-${name}`);
    await keys.fill("/config/prompt", "Answer {{ state.message", "Escape");
    await keys.fill("/config/into", "reply", "Enter");
  }
  await keys.row("outline-node-refund_reply");
  await keys.press("n");
  await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
  await keys.type("human");
  await keys.press("Enter");
  await expect(app.id("outline-node-ask")).toBeFocused();
  await rename("review");
  await keys.settings("outline-node-review");
  // Of prose nothing is completed.
  await keys.fill("/config/question", "Send it?");
  await keys.press("Escape");
  await keys.tabTo('[data-pointer="/config/choices"] button');
  await keys.press("Enter");
  await keys.type("approve");
  await keys.press("Enter");
  await keys.type("again");
  await keys.fill("/config/into", "decision", "Enter");

  await keys.row("outline-node-answer");
  await keys.press("c");
  await expect(page.getByRole("menu")).toContainText("Connect to");
  await keys.type("review");
  await keys.press("Enter");
  await expect(app.id("outline-node-answer"), "the focus comes back to the row").toBeFocused();
  for (const [way, to] of [["approve", "end"], ["again", "triage"]] as const) {
    await keys.row(`outline-way-review-${way}`);
    await keys.press("c");
    await expect(app.id("node-search").getByRole("combobox")).toBeFocused();
    await keys.type(to);
    await keys.press("Enter");
    await expect(app.id(`outline-way-review-${way}`)).toHaveCount(0);
    // The search gives the focus back when it has gone.
    await expect(app.id("node-search")).toHaveCount(0);
    await expect(app.id("outline-node-review"), "where the way was, its node is").toBeFocused();
  }
  await keys.command("Outline");
  await expect(page.locator('[role="treeitem"]:focus')).toHaveCount(1);
  await app.picture("keys-outline", ["light", "dark"]);
  await expect(app.id("announcer")).not.toBeEmpty();

  // A run to the question, round the loop once, and to the end.
  await keys.command("Run with other input");
  await expect(app.id("run-form").getByLabel("Message")).toBeFocused();
  await keys.type("a refund please");
  await keys.press("Control+Enter");
  await app.status("asking");
  const answer = async (choice: string) => {
    const button = app.id("answer-choice").filter({ hasText: choice });
    await expect(button).toBeEnabled();
    // F5 is the button Answer: it goes to the question once it is there to be answered.
    await expect(async () => {
      await keys.press("F5");
      await expect(app.id("answer-choice").first()).toBeFocused({ timeout: 1_000 });
    }).toPass({ timeout: 15_000 });
    for (let tries = 0; tries < 5; tries += 1) {
      if (await button.evaluate((each) => each === document.activeElement)) break;
      await keys.press("Tab");
    }
    await expect(button).toBeFocused();
    await keys.press("Enter");
  };
  await answer("again");
  await expect(app.node("refund_reply").getByTestId("card-runs"), "the loop was taken").toHaveText("×2");
  await app.status("asking");
  await answer("approve");
  await app.status("done");
  await app.picture("keys-done", ["light", "dark"]);
});
