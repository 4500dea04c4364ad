/** Pictures that carry their graph, files dropped on the window, and pasted work of other builders. */
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Carried",
  state: { n: { type: "integer" } },
  nodes: { "count <1>": { kind: "assign", title: "数 & more", config: { set: { n: "state.n + 1" } } } },
  edges: [
    { from: "__start__", to: "count <1>" },
    { from: "count <1>", to: "__end__" },
  ],
  layout: { __start__: [40, 100], "count <1>": [200, 90], __end__: [480, 100] },
};

/** Drops a file as the system does. */
async function drop(page: Page, name: string, content: Buffer | string): Promise<void> {
  const base64 = Buffer.from(content).toString("base64");
  const data = await page.evaluateHandle(
    ([name = "", base64 = ""]) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name));
      return data;
    },
    [name, base64],
  );
  await page.dispatchEvent('[data-testid="shell"]', "dragover", { dataTransfer: data });
  await page.dispatchEvent('[data-testid="shell"]', "drop", { dataTransfer: data });
}

/** What a note says; what is announced says it a second time. */
const toast = (page: Page, text: string) => page.getByTestId("toast").getByText(text);

for (const form of ["png", "svg"] as const)
  test(`a ${form} carries its graph, and opens it again as a new one`, async ({ app, page }) => {
    await app.openGraph(graph);
    await app.command("Export");
    await expect(app.id("picture-carry")).toHaveAttribute("aria-checked", "true");
    await app.picture("picture-carry", ["light", "dark"]);
    const downloading = page.waitForEvent("download");
    await app.id(`picture-save-${form}`).click();
    const picture = readFileSync(await (await downloading).path());
    await page.keyboard.press("Escape");
    // It is a picture as before.
    const loaded = await page.evaluate(
      async ([type = "", base64 = ""]) => {
        const image = new Image();
        image.src = `data:${type};base64,${base64}`;
        await image.decode();
        return image.naturalWidth;
      },
      [form === "png" ? "image/png" : "image/svg+xml", picture.toString("base64")],
    );
    expect(loaded).toBeGreaterThan(100);

    await drop(page, `Carried.${form}`, picture);
    await expect(toast(page, `Opened the graph of “Carried.${form}”`)).toBeVisible();
    await expect(app.id("graph-name")).toHaveText("Carried");
    await expect(app.node("count <1>")).toBeVisible();
    await expect(app.node("count <1>")).toContainText("数 & more");
    const info = await app.rpc<{ open: { graphId: string; path?: string }[] }>("app.info", {});
    const draft = info.open.find(({ path }) => path === undefined);
    const { json } = await app.rpc<{ json: string }>("graph.export", { graphId: draft?.graphId });
    expect(JSON.parse(json)).toEqual(graph);

    // The same through the menu of the window.
    const choosing = page.waitForEvent("filechooser");
    await app.command("Open from a picture");
    await (await choosing).setFiles({ name: "again." + form, mimeType: "", buffer: picture });
    await expect(toast(page, `Opened the graph of “again.${form}”`)).toBeVisible();

    // Without its graph, it says so.
    await app.command("Export");
    await app.id("picture-carry").click();
    const bare = page.waitForEvent("download");
    await app.id(`picture-save-${form}`).click();
    const plain = readFileSync(await (await bare).path());
    await page.keyboard.press("Escape");
    expect(plain.includes("superstep/1")).toBe(false);
    await drop(page, `plain.${form}`, plain);
    await expect(toast(page, `“plain.${form}” carries no graph.`)).toBeVisible();
  });

test("what is no graph is called by its name, and nothing breaks", async ({ app, page }) => {
  await app.openGraph(graph);
  for (const [name, content, said] of [
    ["report.pdf", Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe]), "“report.pdf” is not a graph."],
    ["broken.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0xff, 0xff, 0xff, 0xff]), "The graph in “broken.png” is damaged and cannot be read."],
    ["langgraph.json", '{"graphs":{"agent":"./agent.py:graph"}}', "This is made with LangGraph. It cannot be imported yet."],
    ["agent.py", "from langgraph.graph import StateGraph\ng = StateGraph(State)\n", "This is made with LangGraph (Python). It cannot be imported yet."],
  ] as const) {
    await drop(page, name, content);
    await expect(toast(page, said)).toBeVisible();
  }
  await app.picture("dropped", ["light", "dark"]);
  await expect(app.id("graph-name")).toHaveText("Carried");

  // Pasted on the canvas.
  await app.id("canvas").click({ position: { x: 30, y: 30 } });
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "flowchart TD\n  a --> b");
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await expect(toast(page, "This is made with Mermaid. It cannot be imported yet.")).toBeVisible();
});
