/** What the search suggests after a node, and what is offered for a node of an unknown kind. */
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Suggestions",
  state: { said: { type: "string" } },
  nodes: {
    choose: { kind: "model", config: { model: "scripted", prompt: "Hi", into: "said", script: [{ say: "Yes." }] } },
    foreign: { kind: "llm", config: { prompt: "Say hello", flavour: { deep: [1, 2] } } },
  },
  edges: [{ from: "__start__", to: "choose" }, { from: "choose", to: "foreign" }],
  layout: { __start__: [40, 100], choose: [200, 90], foreign: [520, 90] },
};

test("the search suggests what often comes next; an unknown kind keeps its settings and is mended", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  await app.id("port-out-choose").click();
  const search = app.id("node-search");
  await expect(search).toBeVisible();
  await expect(search.getByRole("listbox").locator("p").first()).toHaveText("Usual after Model");
  await app.picture("suggested", ["light", "dark"]);
  await page.keyboard.press("Escape");

  await app.goTo("foreign");
  await expect(app.id("inspector")).toContainText("Unknown node kind “llm”");
  await app.picture("unknown-kind", ["light", "dark"]);
  await app.id("inspector").getByRole("button", { name: "Change the kind to Model" }).first().click();
  await expect(app.node("foreign")).toContainText("Model");
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
  await expect
    .poll(async () => {
      const { json } = await app.rpc<{ json: string }>("graph.export", { graphId });
      return (JSON.parse(json) as typeof graph).nodes.foreign;
    })
    .toEqual({ kind: "model", config: graph.nodes.foreign.config });
});
