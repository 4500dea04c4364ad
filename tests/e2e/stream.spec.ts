/** The stream of a thread: log lines as lines, and one cursor for the log, the canvas and the timeline. */
import { expect, test } from "./superstep";

const talking = {
  format: "superstep/1",
  name: "Talking",
  state: { n: { type: "integer", default: 0 } },
  nodes: {
    count: {
      kind: "code",
      config: {
        source: [
          "const n = state.n + 1;",
          "console.log('round', n);",
          "if (n === 3) console.warn('already at', n, '\\n  the limit is near');",
          "if (n === 5) console.error('that is enough');",
          "emit({ rows: n });",
          "return { n };",
        ].join("\n"),
      },
    },
    close: { kind: "code", config: { source: "console.log('closed'); return {};" } },
  },
  edges: [
    { from: "__start__", to: "count" },
    { from: "count", to: "count", when: "state.n < 30" },
    { from: "count", to: "close", when: "state.n >= 30" },
    { from: "close", to: "__end__" },
  ],
  layout: { __start__: [40, 100], count: [200, 90], close: [480, 90], __end__: [760, 100] },
  recursion_limit: 100,
  examples: [{ name: "thirty", input: { n: 0 } }],
};

test("logs are lines with their level, of all nodes or one, and they and the cursor move together", async ({ app, page }) => {
  await app.openGraph(talking);
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.id("panel-bottom").locator('[data-testid="tab-stream"]').click();
  const stream = app.id("stream");
  const lines = stream.locator('[data-testid="stream-entry"]');
  const filter = async (name: string) => {
    await app.id("stream-filter").click();
    await page.getByRole("option", { name }).click();
  };
  await filter("Warnings and errors");
  await expect(lines).toHaveCount(2);
  const warning = lines.nth(0);
  await expect(warning).toHaveAttribute("data-level", "warn");
  await expect(warning).toContainText(/count\s*warning\s*already at 3 the limit is near/);
  await expect(warning, "a line, no JSON").not.toContainText("{");
  await expect(lines.nth(1)).toHaveAttribute("data-level", "error");
  await warning.locator('[data-testid="stream-more"]').click();
  await expect(warning.locator("pre")).toContainText("  the limit is near");

  // The line leads to the moment and to the node on the canvas.
  await warning.getByRole("button", { name: /already at/ }).click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.node("count")).toHaveAttribute("data-selected", "true");
  await expect(page.locator('[data-testid="task"][data-selected]')).toHaveAttribute("data-node", "count");
  await app.showState();
  await expect(app.key("n"), "the state that its step began from").toContainText("2");

  // The cursor leads to the events of the step.
  await filter("All events");
  await app.id("panel-bottom").locator('[data-testid="tab-timeline"]').click();
  await app.id("timeline-goto-step").fill("7");
  await page.keyboard.press("Enter");
  await app.id("panel-bottom").locator('[data-testid="tab-stream"]').click();
  const here = stream.locator('[data-here="true"]');
  await expect(here.filter({ hasText: "round 7" })).toBeInViewport();
  await expect(here.filter({ hasText: "round 6" })).toHaveCount(0);
  await expect(stream.locator('[data-later="true"]').filter({ hasText: "round 8" })).toBeVisible();
  await app.picture("stream-past", ["light", "dark"]);
  await page.locator("body").click({ position: { x: 400, y: 4 } });
  for (let step = 7; step < 24; step += 1) await page.keyboard.press("]");
  await expect(here.filter({ hasText: "round 24" })).toBeInViewport();

  // Without following it stays where it is read; the cursor moves alone.
  await app.id("follow").click();
  for (let step = 24; step > 3; step -= 1) await page.keyboard.press("[");
  await app.showState();
  await expect(app.key("n")).toContainText("3");
  await expect(lines.filter({ hasText: "round 24" })).toBeInViewport();
  await app.id("follow").click();
  await expect(here.filter({ hasText: "round 3" }).first()).toBeInViewport();

  // One node's log.
  await app.node("close").click();
  await app.id("stream-own").click();
  await expect(lines.filter({ hasText: "closed" })).toHaveCount(1);
  await expect(lines.filter({ hasText: "round" })).toHaveCount(0);
  await app.picture("stream-node", ["light", "dark"]);
});
