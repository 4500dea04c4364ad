/** What the canvas draws besides plain wires: ways of a failure, bounds of loops, clashes, rows; and servers in place. */
import { join, resolve } from "node:path";
import { readFileSync } from "node:fs";
import { expect, test } from "./superstep";

const assign = (set: Record<string, string> = {}) => ({ kind: "assign", config: { set } });
const server = resolve(import.meta.dirname, "../../crates/nodes/tests/it/mcp_server.py");

test("the way of a failure is drawn from its port, undone, selected and deleted", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Failures",
    state: { said: { type: "string", default: "" } },
    nodes: { pay: { kind: "code", config: { source: "throw new Error('no')" } }, mend: assign({ said: "'mended'" }) },
    edges: [{ from: "__start__", to: "pay" }, { from: "pay", to: "__end__" }, { from: "mend", to: "__end__" }],
    layout: { __start__: [0, 100], pay: [160, 90], mend: [520, 260], __end__: [900, 100] },
  });
  const wire = page.locator('.react-flow__edge[data-id="on-error:pay"]');
  await app.node("pay").hover();
  await expect(app.id("way-pay-!error")).toBeVisible();
  await app.drag(app.id("way-pay-!error"), app.id("port-in-mend"));
  await expect(wire).toHaveCount(1);
  await expect(app.id("edge-label-on-error:pay")).toHaveText("on error");
  await app.picture("error-way", ["light", "dark"]);
  await page.keyboard.press("Control+z");
  await expect(wire).toHaveCount(0);
  await page.keyboard.press("Control+Shift+z");
  await expect(wire).toHaveCount(1);

  // A run takes it.
  await app.id("run").click();
  await app.status("done");
  await expect(wire.locator(".line")).toHaveAttribute("data-state", "taken");
  await app.id("use-design").click();

  await app.id("edge-label-on-error:pay").click();
  await expect(app.id("edge-sentence")).toContainText("the run continues at mend");
  await page.keyboard.press("Delete");
  await expect(wire).toHaveCount(0);
});

test("a loop says how often it may run, and the limit is set on its wire", async ({ app, page }) => {
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Bounded",
    state: { n: { type: "integer", reducer: "add", default: 0 } },
    nodes: { count: assign({ n: "1" }), look: assign() },
    edges: [
      { from: "__start__", to: "count" },
      { from: "count", to: "look" },
      { from: "look", to: "count", when: "state.n < 100" },
      { from: "look", to: "__end__", when: "state.n >= 100" },
    ],
    layout: { __start__: [0, 100], count: [160, 90], look: [560, 90], __end__: [1100, 100] },
  });
  await app.id("edge-label-look->count").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Limit this loop…" }).click();
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  const bound = app.id("bound-look->count");
  await expect(bound).toHaveText("at most 3×");
  await app.id("run").click();
  await app.status("failed");
  await app.id("use-design").click();
  await bound.dblclick();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await expect(bound).toHaveCount(0);
  await page.keyboard.press("Control+s");
  await expect.poll(() => readFileSync(file, "utf8")).not.toContain("max_visits");
});

test("a wire that would make two nodes of a step write one key says so while it is drawn", async ({ app, page }) => {
  await app.openGraph({
    format: "superstep/1",
    name: "Clash",
    state: { reply: { type: "string" } },
    nodes: { split: assign(), a: assign({ reply: "'a'" }), b: assign({ reply: "'b'" }) },
    edges: [{ from: "__start__", to: "split" }, { from: "split", to: "a" }],
    layout: { __start__: [0, 100], split: [140, 90], a: [460, 40], b: [460, 200], __end__: [800, 100] },
  });
  const from = await app.id("port-out-split").boundingBox();
  const to = await app.id("port-in-b").boundingBox();
  if (!from || !to) throw new Error("no ports");
  await page.mouse.move(from.x + 4, from.y + 4);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 20);
  await expect(app.id("wire-clash")).toHaveCount(0);
  await page.mouse.move(to.x + 2, to.y + 4, { steps: 5 });
  await expect(app.id("wire-clash")).toContainText("both write “reply” in one step");
  await app.picture("wire-clash", ["light", "dark"]);
  await page.mouse.up();
  await expect(app.id("wire-clash")).toHaveCount(0);
});

test("a long chain is arranged in rows, a large graph by the workbench", async ({ app, page }) => {
  const chain = (count: number) => ({
    format: "superstep/1",
    name: `Chain of ${count}`,
    state: {},
    nodes: Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, assign()])),
    edges: [
      { from: "__start__", to: "n0" },
      ...Array.from({ length: count - 1 }, (_, index) => ({ from: `n${index}`, to: `n${index + 1}` })),
      { from: `n${count - 1}`, to: "__end__" },
    ],
  });
  await app.open();
  for (const count of [24, 400]) {
    const file = app.write(`graphs/chain-${count}/graph.json`, chain(count));
    await app.openFile(file);
    // The canvas of the graph before it is there as well.
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Chain of ${count}`);
    await app.id("auto-layout").click();
    await expect(app.id("undo")).toBeEnabled({ timeout: 60_000 });
    await page.keyboard.press("Control+s");
    const rows = () => {
      const { layout = {} } = JSON.parse(readFileSync(file, "utf8")) as { layout?: Record<string, [number, number]> };
      return new Set(Object.entries(layout).filter(([name]) => name.startsWith("n")).map(([, [, y]]) => y)).size;
    };
    await expect.poll(rows, { timeout: 30_000 }).toBeGreaterThan(count === 24 ? 2 : 8);
  }
  await app.picture("rows", ["light"]);
});

test("an MCP server is added, allowed, connected and its tools chosen in the node's form", async ({ app, page }) => {
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Servers",
    state: { messages: { type: "array", reducer: "add_messages" } },
    nodes: { agent: { kind: "agent", config: { model: "scripted", messages: "messages", mcp: [{ server: "" }], script: [{ say: "Done." }] } } },
    edges: [{ from: "__start__", to: "agent" }, { from: "agent", to: "__end__" }],
    layout: { __start__: [0, 100], agent: [160, 90], __end__: [520, 100] },
  });
  await app.node("agent").click();
  const inspector = app.id("inspector");
  if (!(await inspector.getByTestId("server-how").isVisible())) await inspector.getByText("MCP servers").first().click();
  // There is none to choose from.
  await app.id("server-how").fill(`python3 ${server}`);
  await expect(app.id("server-name")).toHaveValue("mcp_server");
  await app.id("server-name").fill("odd");
  await page.keyboard.press("Enter");
  // Nothing is started before somebody has allowed it.
  await expect(app.id("trust")).toBeVisible();
  const declared = JSON.parse(readFileSync(join(file, "../.mcp.json"), "utf8")) as { mcpServers: object };
  expect(declared.mcpServers).toEqual({ odd: { command: "python3", args: [server] } });
  // Programs and servers are ticked one by one.
  await app.id("trust").getByRole("checkbox").nth(0).click();
  await expect(app.id("trust-allow")).toBeDisabled();
  await expect(app.id("trust-allow"), "nothing runs").toHaveText("Allow and connect");
  await app.id("trust").getByRole("checkbox").nth(1).click();
  await app.id("trust-allow").click();
  await expect(app.id("server-works")).toBeVisible({ timeout: 60_000 });
  await app.picture("mcp-server", ["light", "dark"]);
  const tools = app.id("server-tools").getByRole("checkbox");
  await expect(tools.first()).toBeChecked();
  await tools.first().click();
  await page.keyboard.press("Control+s");
  await expect.poll(() => readFileSync(file, "utf8")).toContain('"tools"');
});
