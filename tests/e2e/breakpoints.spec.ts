/** Questions 5 and 6 of a debugger: "stop when this happens", and a step gone through task by task. */
import { expect, test } from "./superstep";

const desk = {
  format: "superstep/1",
  name: "Retries",
  state: {
    retries: { type: "integer", default: 0 },
    log: { type: "array", reducer: "append" },
  },
  nodes: {
    check: { kind: "assign", config: { set: { log: "'checked'" } } },
    retry: { kind: "assign", config: { set: { retries: "state.retries + 1" } } },
    a: { kind: "assign", config: { set: { log: "'a'" } } },
    b: { kind: "assign", config: { set: { log: "'b'" } } },
  },
  edges: [
    { from: "__start__", to: "check" },
    { from: "check", to: "retry", when: "state.retries < 5" },
    { from: "retry", to: "check" },
    { from: "check", to: "a", when: "state.retries >= 5" },
    { from: "check", to: "b", when: "state.retries >= 5" },
  ],
  examples: [{ name: "one", input: { retries: 0 } }],
};

test("a run stops where a condition holds, says why, and goes on", async ({ app, page }) => {
  await app.openGraph(desk);
  await app.id("use-debug").click();

  // On an edge, with a condition.
  await app.id("edge-label-check->retry").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Breakpoint on this edge" }).click();
  const dialog = app.id("breakpoint-dialog");
  await expect(dialog).toContainText("check → retry");
  const condition = app.id("breakpoint-condition").locator(".cm-content, textarea, input").first();
  await condition.click();
  await page.keyboard.type("retries > 2");
  await app.id("breakpoint-save").click();
  await expect(dialog, "a name that is not there is refused").toContainText("there is no retries here");
  await app.picture("breakpoint-refused");
  await condition.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("state.retries > 2");
  await app.id("breakpoint-save").click();
  await expect(dialog).toHaveCount(0);
  await expect(app.id("breakpoint")).toContainText("if state.retries > 2");

  await app.id("run").click();
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("Stopped: check led to retry");
  await expect(app.key("retries")).toContainText("3");
  await app.picture("breakpoint-stopped");

  // It is there after a reload, and a second breakpoint is a watchpoint.
  await page.reload();
  await app.id("use-debug").click();
  await app.id("thread").click();
  await expect(app.id("stop-reason")).toContainText("led to retry");
  await app.id("breakpoint").getByRole("checkbox").click();
  await app.id("breakpoint-add").click();
  await page.getByRole("menuitem", { name: "When a condition becomes true…" }).click();
  await condition.click();
  await page.keyboard.type("state.retries == 5");
  await page.getByRole("switch", { name: "Remove after the first stop" }).click();
  await app.id("breakpoint-save").click();
  await expect(app.id("breakpoint")).toHaveCount(2);
  await app.id("run").click();
  await expect(app.id("stop-reason")).toContainText("The condition became true after retry");
  await expect(app.id("breakpoint"), "it was to stop once").toHaveCount(1);

  // The two tasks of the last step, one by one.
  await app.id("run-step").click();
  await expect(app.id("stop-reason")).toHaveCount(0);
  await page.getByRole("tab", { name: "Tasks" }).click();
  await page.locator('[data-testid="task"][data-node="b"][data-status="waiting"]').getByRole("button").first().click();
  await app.id("step-task").click();
  await expect(app.id("stop-reason")).toContainText("b ran alone; 1 task of the step waits");
  await app.picture("step-task");
  await app.id("run").click();
  await app.status("done");
});

test("a condition on a key that is not there says so while it is typed, and offers the one that was meant", async ({ app, page }) => {
  await app.openGraph(desk);
  await app.id("use-debug").click();
  await app.id("breakpoint-add").click();
  await page.getByRole("menuitem", { name: "When a condition becomes true…" }).click();
  const dialog = app.id("breakpoint-dialog");
  const condition = app.id("breakpoint-condition").locator(".cm-content, textarea, input").first();
  await condition.click();
  await page.keyboard.type("state.retires > 2");
  const unknown = dialog.getByTestId("unknown-keys");
  await expect(unknown).toContainText("The state has no key “retires”");
  await app.picture("breakpoint-unknown-key", ["light", "dark"]);
  await unknown.getByRole("button", { name: "Use “retries”" }).click();
  await expect(condition).toHaveText("state.retries > 2");
  await expect(unknown).toHaveCount(0);
  // It is a warning: an earlier version of the graph may have had the key.
  await condition.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("state.nope > 3");
  await expect(unknown).toContainText("nope");
  await expect(unknown.getByRole("button")).toHaveCount(0);
  await app.id("breakpoint-save").click();
  await expect(dialog).toHaveCount(0);
  await expect(app.id("breakpoint").getByTestId("unknown-keys"), "the list goes on saying so").toContainText("nope");

  // The same for an expression that is watched.
  await app.id("watch-add").click();
  await app.id("watch-field").locator(".cm-content, textarea, input").first().click();
  await page.keyboard.type("state.retires + 1");
  await expect(app.id("watches").getByTestId("unknown-keys")).toContainText("retires");
  await app.id("watches").getByRole("button", { name: "Use “retries”" }).click();
  await page.keyboard.press("Enter");
  await expect(app.id("watch")).toContainText("state.retries + 1");
  await expect(app.id("watches").getByTestId("unknown-keys")).toHaveCount(0);
});

test("a run goes to a node and stops before it once, from the beginning and from the past", async ({ app, page }) => {
  await app.openGraph(desk);
  await app.id("use-debug").click();
  await app.node("retry").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Run to here" }).click();
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("retry");
  await expect(app.id("breakpoint"), "no breakpoint is left").toHaveCount(0);
  await expect(app.node("retry")).toHaveAttribute("data-state", "next");
  // Goes on past it: the loop comes there again, and nothing stops it.
  await page.keyboard.press("F5");
  await app.status("done");
  // From the past, on a branch of its own.
  await app.checkpoint(1).first().click();
  await app.node("a").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Run to here" }).click();
  await app.status("paused");
  await expect(app.node("a")).toHaveAttribute("data-state", "next");
});
