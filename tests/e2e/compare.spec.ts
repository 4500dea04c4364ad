/** What differs: two threads of one graph, their ways, an item that moved and a text by its words. */
import { expect, test } from "./superstep";

const text = "The front brake squeals when it is wet, the rear one does not squeal at all.";
const ways = {
  format: "superstep/1",
  name: "Ways",
  state: {
    n: { type: "integer", default: 0 },
    big: { type: "boolean", default: false },
    text: { type: "string" },
    items: { type: "array" },
  },
  nodes: {
    count: { kind: "assign", config: { set: { n: "state.n + 1" } } },
    small: { kind: "assign", config: { set: { n: "state.n * 10" } } },
    large: { kind: "assign", config: { set: { n: "state.n * 100" } } },
  },
  edges: [
    { from: "__start__", to: "count" },
    { from: "count", route: "'yes' if state.big else 'no'", paths: { yes: "large", no: "small" } },
    { from: "small", to: "__end__" },
    { from: "large", to: "__end__" },
  ],
  layout: { __start__: [40, 100], count: [200, 90], small: [480, 20], large: [480, 160], __end__: [760, 100] },
};

test("two threads are compared from the list, a moment from the timeline", async ({ app, page }) => {
  await app.openGraph(ways);
  await app.id("use-debug").click();
  const { origin, hash } = new URL(app["server"].url);
  const token = new URLSearchParams(hash.slice(1)).get("token") ?? "";
  const rpc = async (command: string, request: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(`${origin}/rpc/${command}`, { method: "POST", headers, body: JSON.stringify(request) });
    return (await response.json()) as Record<string, any>;
  };
  const { open } = await rpc("app.info", {});
  const run = async (input: object, title: string) => {
    const { threadId } = await rpc("run.start", { graphId: open[0].graphId, action: { type: "input", input } });
    await expect.poll(async () => (await rpc("thread.get", { threadId }))["status"]).toBe("done");
    await rpc("thread.rename", { threadId, title });
    return threadId as string;
  };
  const first = await run({ text, items: [{ id: "a", v: 1 }, { id: "b" }, { id: "c" }] }, "Small order");
  const changed = { text: text.replace("wet", "cold"), big: true, items: [{ id: "c" }, { id: "a", v: 2 }, { id: "b" }] };
  const second = await run(changed, "Large order");

  const row = (thread: string) => page.locator(`[data-testid="thread"][data-thread="${thread}"]`);
  await row(second).click();
  await row(first).hover();
  await row(first).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Compare with shown thread" }).click();
  await expect(app.id("compare")).toBeVisible();
  await expect(app.id("compare-left-thread")).toContainText("Small order");
  await expect(app.id("compare-right-thread")).toContainText("Large order");
  await expect(app.id("compare-path")).toContainText("Only left: small");
  await expect(app.id("compare-path")).toContainText("First divergence");
  const difference = (pointer: string, change: string) =>
    page.locator(`[data-testid="difference"][data-pointer="${pointer}"][data-change="${change}"]`);
  await expect(difference("/items/0", "moved")).toContainText("moved from [2]");
  await expect(difference("/items/1/v", "changed")).toBeVisible();
  await expect(difference("/text", "changed").locator("ins")).toHaveText("cold");
  await expect(app.id("difference")).toHaveCount(5);
  await app.picture("compare-threads", ["light", "dark"]);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("compare-threads-small", ["light"]);
  await page.setViewportSize({ width: 1440, height: 900 });

  await app.id("compare-swap").click();
  await expect(app.id("compare-path")).toContainText("Only left: large");
  await expect(row(first)).toHaveAttribute("aria-selected", "true");
  // A step of the other thread's way leads there, and what is compared with stays.
  await app.id("compare-path").locator('[data-testid="compare-step"]').last().click();
  await expect(app.id("compare-right")).toContainText("2");

  // A moment from the timeline stays the left side while the cursor goes on.
  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  const checkpoint = app.id("checkpoint").nth(1);
  await checkpoint.hover();
  await checkpoint.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Compare with…" }).click();
  await expect(app.id("compare-left")).toContainText("1");
  await row(second).click();
  await expect(app.id("compare-right-thread")).toContainText("Large order");
  await expect(app.id("compare-left-thread")).toContainText("Small order");
  await app.id("compare").getByRole("button", { name: "Close comparison" }).click();
  await expect(app.id("compare")).toBeHidden();
});

test("why a run was slower than another is said in three actions", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Slow",
    state: { wait: { type: "integer" }, tries: { type: "integer", reducer: "add" }, more: { type: "boolean" } },
    nodes: {
      look: { kind: "code", config: { source: "const until = Date.now() + state.wait; while (Date.now() < until) {} return { tries: 1 };" } },
      note: { kind: "assign", config: { set: { tries: "1" } } },
      extra: { kind: "assign", config: { set: { tries: "1" } } },
    },
    edges: [
      { from: "__start__", to: "look" },
      { from: "look", to: "note" },
      { from: "note", when: "state.more", to: "extra" },
      { from: "extra", to: "__end__" },
    ],
  });
  await app.id("use-debug").click();
  const { open } = await app.rpc<{ open: { graphId: string }[] }>("app.info", {});
  const run = async (input: object, title: string) => {
    const request = { graphId: open[0]?.graphId, action: { type: "input", input } };
    const { threadId } = await app.rpc<{ threadId: string }>("run.start", request);
    await expect.poll(async () => (await app.rpc<{ status: string }>("thread.get", { threadId })).status).toBe("done");
    await app.rpc("thread.rename", { threadId, title });
    return threadId;
  };
  const yesterday = await run({ wait: 0, more: false }, "Yesterday");
  const today = await run({ wait: 700, more: true }, "Today");
  const row = (thread: string) => page.locator(`[data-testid="thread"][data-thread="${thread}"]`);
  await row(today).click();

  await row(yesterday).hover();
  await row(yesterday).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Compare with shown thread" }).click();
  await app.id("compare").getByRole("tab", { name: "Time by node" }).click();

  await expect(app.id("compare-why")).toContainText(/Right took .* longer\. Most of it: look, \+/);
  const nodes = app.id("compare-node");
  await expect(nodes.first()).toHaveAttribute("data-node", "look");
  await expect(nodes.first()).toContainText("→");
  await expect(page.locator('[data-testid="compare-node"][data-node="extra"]')).toContainText("right only");
  await app.picture("compare-runs", ["light", "dark"]);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("compare-runs-small", ["light"]);
  await page.setViewportSize({ width: 1440, height: 900 });

  // Swapped, it was the shorter one; a node leads to its longest visit.
  await app.id("compare-swap").click();
  await expect(app.id("compare-why")).toContainText(/Right took .* less\. Most of it: look, −/);
  await nodes.first().getByRole("button").click();
  await expect(app.id("panel-bottom").locator('[data-testid="tab-trace"]')).toHaveAttribute("aria-selected", "true");
});
