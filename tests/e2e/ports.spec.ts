/** Branches that are drawn: named ports, the choice at the plain port, and what is added at a port or in a line. */
import { expect, test, type Superstep } from "./superstep";

const assign = (into: string) => ({ kind: "assign", config: { set: { [into]: "'x'" } } });
const graph = {
  format: "superstep/1",
  name: "Triage",
  state: { reply: { type: "string" } },
  nodes: {
    choose: {
      kind: "router",
      config: { ways: [{ label: "refund", when: "true" }, { label: "question", when: "false" }], otherwise: "other", into: "" },
    },
    pay: assign("reply"),
    answer: assign("reply"),
  },
  edges: [{ from: "__start__", to: "choose" }],
  layout: { __start__: [0, 0], choose: [140, -8], pay: [480, -120], answer: [480, 40], __end__: [800, 0] },
};

/** Lines on the canvas, as FROM>TO. */
async function lines(app: Superstep): Promise<string[]> {
  const all = await app.page
    .locator(".react-flow__edge")
    .evaluateAll((edges) => edges.map((edge) => edge.getAttribute("aria-label")?.replace(/Edge from (.*) to (.*)/, "$1>$2").replace(/^Start>/, "__start__>").replace(/>End$/, ">__end__") ?? ""));
  return all.sort();
}

const port = (app: Superstep, label: string) => app.id(`way-choose-=${label}`);
const into = (app: Superstep, node: string) => app.id(`port-in-${node}`);
const label = (app: Superstep, way: string) => app.id(`edge-label-choose->?|=${way}`);

test("a wire from a way of a router makes the route, and the next ones extend it", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.drag(port(app, "refund"), into(app, "pay"));
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>pay"]);
  await app.drag(port(app, "question"), app.node("answer"));
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>answer", "choose>pay"]);
  await expect(label(app, "refund")).toHaveText("refund");
  await expect(label(app, "question")).toHaveText("question");

  // The same label leads to one node: drawn again, it moves.
  await app.drag(port(app, "question"), into(app, "pay"));
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>pay", "choose>pay"]);
  await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>answer", "choose>pay"]);

  // A label that is renamed is renamed in the settings too.
  await label(app, "refund").dblclick();
  await page.keyboard.type("money");
  await page.keyboard.press("Enter");
  await expect(label(app, "money")).toHaveText("money");
  await expect(port(app, "money")).toHaveCount(1);

  await label(app, "money").click();
  await page.keyboard.press("Delete");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>answer"]);
  await expect(port(app, "money")).toHaveClass(/port-open/);
  for (let step = 0; step < 4; step += 1) await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose"]);
  await expect(app.id("undo")).toBeDisabled();
});

test("a wire from the plain port of a router asks which way is meant", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.wire("choose", "pay");
  const menu = page.getByRole("menu");
  await expect(menu).toContainText("Which way?");
  await menu.getByRole("menuitem", { name: "question" }).click();
  await expect(label(app, "question")).toBeVisible();

  await app.wire("choose", "answer");
  await menu.getByRole("menuitem", { name: "New way…" }).click();
  await expect(app.id("edge-label-input")).toBeFocused();
  await page.keyboard.type("praise");
  await page.keyboard.press("Enter");
  await expect(label(app, "praise")).toBeVisible();

  await app.wire("choose", "answer");
  await page.keyboard.press("Escape");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>answer", "choose>pay"]);
  await app.wire("choose", "pay");
  await menu.getByRole("menuitem", { name: "Always, besides the ways" }).click();
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "choose>answer", "choose>pay", "choose>pay"]);

  // By keys: C in the outline asks the same, then where to.
  await page.getByRole("tab", { name: "Outline" }).click();
  await app.id("outline-node-choose").focus();
  await page.keyboard.press("c");
  await expect(menu).toContainText("Which way?");
  await page.keyboard.press("r");
  await expect(page.getByRole("menuitem", { name: "refund" })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(menu.last().locator('[role="menuitem"]:focus')).toHaveCount(1);
  await expect(menu).toHaveCount(2);
  await page.keyboard.press("p");
  await expect(page.getByRole("menuitem", { name: "pay", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(label(app, "refund")).toBeVisible();
});

test("a click on a port adds what comes next, and a line takes a node in", async ({ app, page }) => {
  await app.openGraph({ ...graph, edges: [...graph.edges, { from: "pay", to: "__end__" }] });
  await port(app, "other").click();
  await page.keyboard.type("assign");
  await page.keyboard.press("Enter");
  await expect.poll(() => lines(app)).toContain("choose>assign");
  await page.keyboard.press("Control+z");
  await expect(app.node("assign")).toHaveCount(0);

  // In widths of a card, whatever the view shows.
  const apart = async () => {
    const [pay, end] = [await app.node("pay").boundingBox(), await app.node("__end__").boundingBox()];
    return pay && end ? (end.x - pay.x) / pay.width : 0;
  };
  const before = await apart();
  await page.locator(".react-flow__edge[aria-label='Edge from pay to End']").hover();
  await app.id("add-between-pay->__end__").click();
  await page.keyboard.type("assign");
  await page.keyboard.press("Enter");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "assign>__end__", "pay>assign"]);
  // The end may have moved out of sight, where it is not drawn.
  await app.id("zoom-fit").click();
  await expect.poll(apart).toBeGreaterThan(before + 0.2);
  await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual(["__start__>choose", "pay>__end__"]);
  await expect.poll(apart).toBeCloseTo(before, 1);
});

test("the first node of a graph is joined to its start and its end", async ({ app, page }) => {
  await app.openGraph({ format: "superstep/1", name: "New", state: {}, nodes: {}, edges: [] });
  await page.keyboard.press("Tab");
  await page.keyboard.type("assign");
  await page.keyboard.press("Enter");
  await expect.poll(() => lines(app)).toEqual(["__start__>assign", "assign>__end__"]);
  await page.keyboard.press("Control+z");
  await expect.poll(() => lines(app)).toEqual([]);
});

test("a click on the expression of a route selects all its ways, also where no card has them", async ({ app, page }) => {
  await app.openGraph({
    ...graph,
    edges: [{ from: "__start__", route: "state.reply", paths: { a: "pay", b: "answer" }, default: "choose" }],
    layout: { ...graph.layout, choose: [480, 200] },
  });
  const selected = page.locator(".line[data-selected]");
  const expression = page.locator('[data-testid$="-caption"]');
  await expression.click();
  await expect(app.id("inspector")).toBeVisible();
  await expect(selected).toHaveCount(3);
  await page.locator('[data-testid^="edge-label-"]', { hasText: "b" }).click();
  await expect(selected).toHaveCount(1);
  await expression.click();
  await expect(selected).toHaveCount(3);
});

test("a port takes the press at its middle and beside it, at every zoom", async ({ app, page }) => {
  await app.openExample("refund-desk");
  const taking = (dx: number) =>
    app.id("port-out-decline").evaluate((port, dx) => {
      const { x, y, width, height } = port.getBoundingClientRect();
      const under = document.elementFromPoint(x + width / 2 + dx, y + height / 2);
      return under?.closest(".react-flow__handle")?.getAttribute("data-testid") ?? under?.className;
    }, dx);
  await expect(app.node("decline")).toBeVisible();
  for (let zoom = 0; zoom < 3; zoom += 1) {
    for (const dx of [0, -6, 6]) expect(await taking(dx), `${dx} px from it, ${zoom} steps out`).toBe("port-out-decline");
    await app.id("zoom-out").click();
    await page.waitForFunction(() => document.getAnimations().length === 0);
  }
});
