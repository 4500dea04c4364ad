/** Variants of a node's settings: kept under names, switched, changed, renamed, deleted, undone, and kept in the file. */
import { readFileSync } from "node:fs";
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Greeting",
  state: { name: { type: "string" }, reply: { type: "string" } },
  nodes: { greet: { kind: "model", config: { model: "scripted", prompt: "Greet {{ state.name }} warmly.", into: "reply", script: [{ say: "Hi" }] } } },
  edges: [
    { from: "__start__", to: "greet" },
    { from: "greet", to: "__end__" },
  ],
  layout: { __start__: [0, 60], greet: [160, 40], __end__: [460, 60] },
};

test("settings are kept as variants and switched in the inspector", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  await app.node("greet").click();
  const menu = app.id("variants");
  const choose = async (name: string | RegExp) => {
    await menu.click();
    await page.getByRole("menu").locator('[role^="menuitem"]').filter({ hasText: name }).click();
  };
  const prompt = app.id("inspector-config").locator(".cm-content").filter({ hasText: "Greet" }).first();
  const write = async (text: string) => {
    await prompt.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
    await page.keyboard.press("Escape");
  };

  await choose("Save settings as a variant…");
  await page.keyboard.type("warm");
  await page.keyboard.press("Enter");
  await expect(menu).toHaveText("warm");

  await write("Greet briefly.");
  await expect(menu).toHaveText("warm, changed");
  await choose("Save settings as a variant…");
  await app.id("variant-name").fill("warm");
  await expect(app.id("variant-naming")).toContainText("exists already");
  await app.id("variant-name").fill("short");
  await page.keyboard.press("Enter");
  await expect(menu).toHaveText("short");

  await choose(/^warm$/);
  await expect(prompt).toContainText("warmly");
  await menu.click();
  await app.picture("variants", ["light", "dark"]);
  await page.keyboard.press("Escape");

  // One step of undo; and the palette goes to the next one.
  await app.id("canvas").press("Control+z");
  await expect(prompt).toContainText("briefly");
  await app.command("next variant");
  await expect(menu).toHaveText("warm");
  // A palette that goes takes the focus with it, and closes a menu that opens meanwhile.
  await expect(app.id("command-palette")).toHaveCount(0);

  await choose("Rename “warm”…");
  await app.id("variant-name").fill("friendly");
  await page.keyboard.press("Enter");
  await choose(/^short$/);
  await choose("Delete “short”");
  await expect(menu).toHaveText("Variants");
  await page.keyboard.press("Control+s");
  await expect(async () => {
    const { greet } = (JSON.parse(readFileSync(file, "utf8")) as { nodes: Record<string, Record<string, unknown>> }).nodes;
    expect(greet?.["config"]).toMatchObject({ prompt: "Greet briefly." });
    expect(Object.keys(greet?.["x-variants"] as object)).toEqual(["friendly"]);
  }).toPass();
  await expect(app.id("tab-problems")).not.toContainText(/[1-9]/);
});
