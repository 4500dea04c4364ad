/** A graph comes into the open one: chosen, dropped on the canvas or pasted; beside its nodes, in their place, or on its own. */
import type { Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const assign = (key: string, value: string) => ({ kind: "assign", config: { set: { [key]: value } } });
const here = {
  format: "superstep/1",
  name: "Desk",
  state: { text: { type: "string" }, total: { type: "number" } },
  nodes: { read: assign("text", "'a'"), own: assign("total", "1") },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "own" },
    { from: "own", to: "__end__" },
  ],
  layout: { __start__: [0, 20], read: [160, 0], own: [460, 0], __end__: [760, 20] },
};
const part = {
  format: "superstep/1",
  name: "Part",
  state: { text: { type: "string" }, total: { type: "array", reducer: "append" } },
  nodes: { read: assign("total", "state.text"), check: assign("text", "state.total|length") },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "check" },
    { from: "check", to: "__end__" },
  ],
  layout: { __start__: [0, 20], read: [160, 0], check: [460, 0], __end__: [760, 20] },
};

type File = { state: Record<string, unknown>; nodes: Record<string, { config: unknown }>; edges: { from: string; to: string }[] };

/** The open graph as it would be saved now. */
async function content(app: Superstep, path: string): Promise<File> {
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path });
  return JSON.parse((await app.rpc<{ json: string }>("graph.export", { graphId })).json) as File;
}

async function drop(page: Page, target: string, name: string, text: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([name = "", text = ""]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      return data;
    },
    [name, text],
  );
  for (const type of ["dragover", "drop"]) await page.dispatchEvent(target, type, { dataTransfer: data });
}

test("a chosen graph with other names comes at once, and is one step of undo", async ({ app, page }) => {
  const file = await app.openGraph(here);
  const choosing = page.waitForEvent("filechooser");
  await app.id("app-menu").click();
  await page.getByRole("menuitem", { name: "Import into this graph…" }).click();
  const other = { ...part, nodes: { first: part.nodes.read, check: part.nodes.check }, edges: [{ from: "first", to: "check" }], layout: { first: [0, 0], check: [300, 0] } };
  await (await choosing).setFiles({ name: "part.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(other)) });
  await expect(app.node("first")).toBeVisible();
  await expect(app.node("first")).toHaveAttribute("data-selected", "true");
  await app.picture("imported", ["light"]);
  await expect.poll(async () => Object.keys((await content(app, file)).state)).toHaveLength(3);
  await app.id("canvas").press("Control+z");
  await expect(app.node("first")).toHaveCount(0);
  await expect.poll(async () => Object.keys((await content(app, file)).state)).toEqual(["text", "total"]);
});

test("dropped on the canvas with names that are taken, it is asked about", async ({ app, page }) => {
  const file = await app.openGraph(here);
  await drop(page, '[data-testid="canvas"]', "part.json", JSON.stringify(part));
  await expect(app.id("import")).toContainText("“read” takes its new settings");
  await expect(app.id("import")).toContainText("“total”");
  await app.picture("import", ["light", "dark"]);
  await app.id("import-confirm").click();
  await expect(app.node("check")).toBeVisible();
  await expect.poll(async () => Object.keys((await content(app, file)).nodes)).toHaveLength(4);
  expect((await content(app, file)).nodes["read"]).toMatchObject({ config: { set: { text: "'a'" } } });

  await app.id("canvas").press("Control+z");
  await drop(page, '[data-testid="canvas"]', "part.json", JSON.stringify(part));
  await app.id("import-update").check();
  await app.id("import-confirm").click();
  await expect.poll(async () => Object.keys((await content(app, file)).nodes)).toEqual(["read", "own", "check"]);
  const updated = await content(app, file);
  expect(updated.nodes["read"]).toMatchObject({ config: { set: { total: "state.text" } } });
  expect(updated.edges.map(({ from, to }) => `${from}>${to}`)).toEqual(expect.arrayContaining(["read>own", "read>check", "check>__end__"]));

  await drop(page, '[data-testid="canvas"]', "part.json", JSON.stringify(part));
  await app.id("import-open").check();
  await app.id("import-confirm").click();
  await expect(app.id("graph-name")).toHaveText("Part");
});

test("pasted, a whole graph brings its state keys", async ({ app, page }) => {
  const file = await app.openGraph({ ...here, nodes: { own: here.nodes.own }, edges: [], layout: { own: [460, 0] } });
  await app.id("canvas").click({ position: { x: 30, y: 30 } });
  const text = JSON.stringify({ ...part, state: { ...part.state, added: { type: "string" } } });
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
  await expect(app.node("check")).toBeVisible();
  await expect.poll(async () => Object.keys((await content(app, file)).state)).toContain("added");
});
