/** A selection that is saved as a block of its folder, and added from the palette and the search to graphs of that folder. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, type Superstep } from "./superstep";

const assign = (key: string, value: string) => ({ kind: "assign", config: { set: { [key]: value } } });
const desk = {
  format: "superstep/1",
  name: "Desk",
  state: { request: { type: "string" }, draft: { type: "string" }, answer: { type: "string" }, log: { type: "string" } },
  nodes: {
    read: assign("request", "state.request|trim"),
    write: assign("draft", "'Dear ' ~ state.request"),
    polish: assign("draft", "state.draft ~ '!'"),
    check: { kind: "code", config: { source: "return { answer: state.draft.toUpperCase() };" } },
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "write" },
    { from: "write", to: "polish" },
    { from: "polish", to: "write", when: "state.draft == ''" },
    { from: "polish", to: "check", when: "state.draft != ''" },
    { from: "check", to: "__end__" },
  ],
  layout: { __start__: [0, 20], read: [160, 0], write: [440, 0], polish: [720, 0], check: [1000, 0], __end__: [1300, 20] },
};
const other = {
  format: "superstep/1",
  name: "Other desk",
  state: { request: { type: "string" }, draft: { type: "integer" } },
  nodes: { write: assign("draft", "1") },
  edges: [{ from: "__start__", to: "write" }, { from: "write", to: "__end__" }],
  layout: { __start__: [0, 20], write: [160, 0], __end__: [460, 20] },
};

type File = { state: object; nodes: Record<string, { config: unknown }>; edges: { from: string; to: string }[] };

/** A graph as it would be saved now. */
async function content(app: Superstep, path: string): Promise<File> {
  const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path });
  return JSON.parse((await app.rpc<{ json: string }>("graph.export", { graphId })).json) as File;
}

test("selected nodes are saved as a block, updated, and added to the graphs of the folder", async ({ app, page }) => {
  const file = await app.openGraph(desk);
  const saved = join(dirname(file), "blocks", "compose-answer.json");
  const block = () => JSON.parse(readFileSync(saved, "utf8"));
  const askBlock = async (...names: string[]) => {
    await app.node(names[0]!).click();
    // The settings beside the canvas leave less room.
    await page.keyboard.press("Control+1");
    for (const name of names.slice(1)) await app.node(name).click({ modifiers: ["Shift"] });
    await app.node(names.at(-1)!).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Save as block…" }).click();
  };
  await askBlock("write", "polish");
  await expect(app.id("save-block-outside")).toContainText("“check”");
  await expect(app.id("save-block")).toContainText("State keys: request, draft");
  await expect(app.id("save-block-confirm")).toBeDisabled();
  await app.id("save-block-name").fill("Compose answer");
  await app.id("save-block-description").fill("Writes an answer and polishes it.");
  await app.picture("block-save", ["light", "dark"]);
  await app.id("save-block-confirm").click();
  await expect(app.id("toast").filter({ hasText: "Block “Compose answer” saved" })).toBeVisible();
  expect(block()).toMatchObject({ name: "Compose answer", description: "Writes an answer and polishes it.", state: { request: {}, draft: {} } });
  expect(Object.keys(block().nodes)).toEqual(["write", "polish"]);
  expect(block().edges.map(({ from, to }: File["edges"][number]) => `${from}>${to}`)).toEqual(["__start__>write", "write>polish", "polish>write"]);

  // It stands in the palette with its picture, and comes with new names as one step of undo.
  const row = app.id("block-Compose answer");
  await row.scrollIntoViewIfNeeded();
  await row.hover();
  await expect(app.id("palette-preview")).toContainText("Nodes: write, polish");
  await expect(app.id("palette-preview").locator("svg rect").first()).toBeAttached();
  await app.picture("block-palette", ["light", "dark"]);
  await row.click();
  await expect(app.node("polish_2")).toHaveAttribute("data-selected", "true");
  await expect.poll(async () => Object.keys((await content(app, file)).nodes)).toHaveLength(6);
  expect(Object.keys((await content(app, file)).state)).toHaveLength(4);
  await page.keyboard.press("Control+z");
  await expect(app.node("polish_2")).toHaveCount(0);
  await expect(app.node("write")).toBeVisible();

  // Under the same name it is updated, which is said before; what it said about itself stays.
  await askBlock("write", "polish", "check");
  await app.id("save-block-name").fill("compose answer");
  await expect(app.id("save-block-exists")).toContainText("“Compose answer”");
  await expect(app.id("save-block-description")).toHaveValue("Writes an answer and polishes it.");
  await app.picture("block-update", ["light"]);
  await app.id("save-block-name").press("Enter");
  await expect(app.id("toast").filter({ hasText: "Block “compose answer” updated" })).toBeVisible();
  expect(Object.keys(block().nodes)).toEqual(["write", "polish", "check"]);
  expect(Object.keys(block().state)).toEqual(["request", "draft", "answer"]);

  // Another graph of the folder has it too: in a window that has not read it yet, by the search, keys of other meaning renamed.
  const second = app.write("graphs/story/other.json", other);
  await page.evaluate(() => localStorage.removeItem("superstep.blocks"));
  await app.open();
  await app.openFile(second);
  await app.id("canvas").press("Tab");
  await page.keyboard.type("compose");
  await expect(app.id("node-search").getByTestId("palette-preview")).toContainText("State keys: request, draft, answer");
  await app.picture("block-search", ["light"]);
  await page.keyboard.press("Enter");
  await expect(app.node("check")).toBeVisible();
  await expect.poll(async () => Object.keys((await content(app, second)).state)).toEqual(["request", "draft", "draft_2", "answer"]);
  const added = await content(app, second);
  expect(added.nodes["polish"]).toMatchObject({ config: { set: { draft_2: "state.draft_2 ~ '!'" } } });
  expect(added.edges.map(({ from, to }) => `${from}>${to}`)).toContain("write_2>polish");
  expect(added.edges.filter(({ from }) => from === "__start__")).toHaveLength(1);

  // Blocks are none of the graphs that somebody worked on.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("compose");
  await expect(page.getByRole("option", { name: /compose-answer\.json/ })).toHaveCount(0);
});

test("a draft, which has no folder, is to be saved before its nodes become a block", async ({ app, page }) => {
  await app.openGraph(desk);
  await app.command("new graph");
  await expect(app.id("graph-name")).toHaveText("New graph");
  await app.id("palette-kind-assign").click();
  await app.command("save as block");
  await expect(app.id("toast").filter({ hasText: "Its blocks are kept beside it." })).toBeVisible();
  await expect(app.id("save-block")).toHaveCount(0);
});
