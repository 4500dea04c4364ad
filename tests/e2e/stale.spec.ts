/** Nodes whose part of the shown run is older than a change of the graph or of the state say so on the canvas. */
import { expect, test } from "./superstep";

const pricing = {
  format: "superstep/1",
  name: "Pricing",
  state: { days: { type: "integer" }, price: { type: "integer" }, text: { type: "string" } },
  nodes: {
    price: { kind: "assign", config: { set: { price: "state.days * 10" } } },
    write: {
      kind: "model",
      config: {
        model: "scripted",
        prompt: "Write an offer of {{ state.price }}",
        into: "text",
        pace_ms: 0,
        script: [{ say: "We do it." }],
      },
    },
    close: { kind: "assign", config: { set: { text: "state.text ~ '.'" } } },
  },
  edges: [
    { from: "__start__", to: "price" },
    { from: "price", to: "write" },
    { from: "write", to: "close" },
    { from: "close", to: "__end__" },
  ],
  layout: { __start__: [40, 100], price: [200, 90], write: [480, 90], close: [760, 90], __end__: [1040, 100] },
  examples: [{ name: "three days", input: { days: 3 } }],
};

test("a node is stale after its settings, or a key that it read, have changed, until it runs again", async ({ app, page }) => {
  await app.openGraph(pricing);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const stale = page.locator('[data-testid^="stale-"]');
  await expect(stale).toHaveCount(0);

  // The graph moves on: the node that changed says so, the others do not.
  await app.id("use-design").click();
  await app.node("write").click();
  await app.id("field-/config/prompt").locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" EUR");
  await app.id("use-debug").click();
  await expect(stale).toHaveCount(1);
  await expect(app.id("stale-write")).toHaveText("Stale: settings changed");
  await expect(app.id("stale-write")).toHaveAttribute("title", /Settings changed since the run: config prompt/);

  // The state is edited: what read the key before is stale, what comes after the edit is not.
  await app.showState();
  await app.key("days").hover();
  await app.key("days").locator('[data-testid="state-edit"]').click();
  await app.id("state-edit-field").locator("input, textarea").first().fill("5");
  await app.id("state-edit-done").click();
  await app.id("edit-apply").click();
  await expect(app.id("stale-price")).toHaveText("Stale: days edited");
  await expect(stale).toHaveCount(2);
  await app.picture("stale", ["light", "dark"]);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("stale-small", ["light", "dark"]);
  await page.setViewportSize({ width: 1440, height: 900 });

  // Before the edit the node is not stale; in Design nothing is.
  await app.checkpoint(3, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.id("stale-price")).toHaveCount(0);
  await expect(app.id("stale-write")).toBeVisible();
  await app.id("use-design").click();
  await expect(stale).toHaveCount(0);

  // It ran again with the graph as it is.
  await app.id("use-debug").click();
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await app.checkpoint(0, "loop").click();
  await app.id("run-replay").click();
  await app.status("done");
  await expect(stale).toHaveCount(0);
});
