/**
 * Which threads broke this rule, what would this condition have decided, what was this expression at every visit: rules are
 * written in the window, asked of all threads, and each answer leads to its moment.
 */
import { expect, test } from "./superstep";

const retrying = {
  format: "superstep/1",
  name: "Retrying",
  state: {
    retries: { type: "integer", reducer: "add", default: 0 },
    most: { type: "integer", default: 2 },
    verdict: { type: "string" },
  },
  nodes: {
    call: { kind: "assign", config: { set: { retries: "1" } } },
    close: { kind: "assign", config: { set: { verdict: "'after ' ~ state.retries" } } },
  },
  edges: [
    { from: "__start__", to: "call" },
    { from: "call", to: "call", when: "state.retries < state.most" },
    { from: "call", to: "close", when: "state.retries >= state.most" },
    { from: "close", to: "__end__" },
  ],
  layout: { __start__: [40, 100], call: [200, 90], close: [660, 90], __end__: [940, 100] },
};

test("rules are asked of all threads, and of a run while it goes on", async ({ app, page }) => {
  await app.openGraph(retrying);
  const { origin, hash } = new URL(app["server"].url);
  const token = new URLSearchParams(hash.slice(1)).get("token") ?? "";
  const rpc = async (command: string, request: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(`${origin}/rpc/${command}`, { method: "POST", headers, body: JSON.stringify(request) });
    return (await response.json()) as Record<string, any>;
  };
  const { open } = await rpc("app.info", {});
  const graphId = open[0].graphId;
  const run = async (most: number, status = "done") => {
    const started = await rpc("run.start", { graphId, action: { type: "input", input: { most } } });
    const thread = () => rpc("thread.get", { threadId: started["threadId"] });
    await expect.poll(async () => (await thread())["status"]).toBe(status);
    return thread();
  };
  for (const most of [2, 3, 5]) await run(most);

  // An invariant of the graph, written in the inspector.
  await app.id("use-design").click();
  await app.command("add invariant");
  const card = app.id("invariant-doc#1");
  await card.getByTestId("invariant-must").locator(".cm-content").fill("state.retris <= 3");
  await expect(card).toContainText("There is no state key retris");
  await card.getByTestId("invariant-must").locator(".cm-content").fill("state.retries <= 3");
  await expect(card).not.toContainText("There is no state key");
  await card.getByTestId("invariant-message").fill("At most three retries");
  await app.picture("invariants-inspector", ["light", "dark"]);

  // Which threads broke this rule?
  await card.page().getByTestId("invariant-check").click();
  const dialog = app.id("invariant-dialog");
  await expect(dialog.getByTestId("query-progress")).toContainText("1 moment · 3 threads searched");
  const broken = dialog.getByTestId("invariant-broken");
  await expect(broken).toHaveCount(1);
  await expect(broken).toContainText("At most three retries");
  await expect(broken).toContainText("by call · for 3 checkpoints");
  await expect(broken).toHaveAttribute("data-step", "4");
  await app.picture("invariants-check", ["light", "dark"]);
  await broken.click();
  await expect(dialog).toBeHidden();
  await expect(app.id("use-debug")).toHaveAttribute("aria-checked", "true");
  const list = app.id("invariant-list");
  await expect(list).toContainText("Broken 1");
  await page.keyboard.press("[");
  await expect(list.getByRole("img", { name: "Holds" })).toBeVisible();
  await expect(list).not.toContainText("Broken");
  await app.picture("invariants-debug", ["light", "dark"]);

  // It fails a run now, and the thread says which rule it was.
  await app.id("use-design").click();
  await card.getByTestId("invariant-then").click();
  await page.getByRole("option", { name: /^Fail/ }).click();
  await page.keyboard.press("Control+z");
  await expect(card.getByTestId("invariant-then")).toContainText("Notify only");
  await page.keyboard.press("Control+Shift+z");
  await expect(card.getByTestId("invariant-then")).toContainText("Fail");
  await expect
    .poll(async () => (await rpc("invariants.check", { graphId, limit: 0 }))["moments"]?.length)
    .toBe(1);
  // The run is started past the window: the edit has to have reached the workbench.
  await expect.poll(async () => JSON.stringify(await rpc("graph.get", { graphId }))).toContain('"when_broken":"fail"');
  await run(6, "failed");

  // What would this condition have decided?
  await app.id("use-design").click();
  await app.id("edge-label-call->call").click();
  await app.id("reconsider").click();
  const panel = app.id("reconsider-panel");
  await panel.getByTestId("reconsider-field").locator(".cm-content").fill("state.retries < 2");
  await panel.getByTestId("reconsider-ask").click();
  await expect(panel.getByTestId("reconsider-answer")).toHaveText("7 of 14 would change, in 3 threads");
  await app.picture("invariants-reconsider", ["light", "dark"]);
  await panel.getByTestId("reconsider-use").click();
  await expect(app.id("edge-expression")).toContainText("state.retries < 2");
  await page.keyboard.press("Control+z");
  await expect(app.id("edge-expression")).toContainText("state.retries < state.most");

  // A probe of the edge, from the palette.
  await app.command("probe");
  const probe = app.id("probe");
  await expect(probe.getByTestId("probe-place")).toContainText("call → call");
  await probe.getByTestId("probe-expression").locator(".cm-content").fill("state.retries");
  const visits = probe.getByTestId("probe-visit");
  await expect(probe.getByTestId("query-progress")).toContainText("11 visits");
  await expect(probe.getByTestId("probe-summary")).toContainText("Highest4");
  await app.picture("invariants-probe", ["light", "dark"]);
  await visits.first().click();
  await expect(probe).toBeHidden();
  await expect(app.id("use-debug")).toHaveAttribute("aria-checked", "true");
});

test("a search that was saved filters the list of threads", async ({ app, page }) => {
  await app.openGraph(retrying);
  await page.keyboard.press("Control+Shift+F");
  await app.id("query-add").click();
  await page.getByRole("menuitem", { name: "First step where…" }).click();
  await app.id("query-value-where").fill("state.retries > 1");
  await app.id("query-save").click();
  await app.id("query-save-name").fill("Retried");
  await page.keyboard.press("Enter");
  await expect(app.id("query-saved")).toBeEnabled();
  await page.keyboard.press("Escape");
  await page.reload();
  await app.id("use-debug").click();
  await app.id("thread-filter").click();
  await page.getByRole("menuitemcheckbox", { name: "Retried" }).click();
  await expect(app.id("found-badge")).toContainText("Retried");
});
