/** The run context: declared in the graph's form, its values kept in the file under names, and given to a run. */
import { readFileSync } from "node:fs";
import { expect, test } from "./superstep";

test("fields of the context are declared, and values of them are kept under names", async ({ app, page }) => {
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Hello",
    state: { said: { type: "string" } },
    nodes: { say: { kind: "assign", config: { set: { said: "context.user ~ context.level" } } } },
    edges: [{ from: "__start__", to: "say" }, { from: "say", to: "__end__" }],
  });
  const saved = async (): Promise<{ context?: unknown; context_sets?: unknown }> => {
    await page.keyboard.press("Control+s");
    await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
    return JSON.parse(readFileSync(file, "utf8")) as { context?: unknown; context_sets?: unknown };
  };

  // Nothing is selected: the graph's own form.
  await app.id("unfold-right").click();
  const section = app.id("context-section");
  const declare = async (name: string) => {
    await app.id("context-add").click();
    const field = section.getByRole("textbox", { name: "Name", exact: true });
    await field.fill(name);
    await field.press("Enter");
    await expect(section.getByRole("button", { name, exact: true })).toBeVisible();
  };
  await declare("user");
  await section.getByPlaceholder("What this field is for").fill("Who is greeted");
  await section.getByRole("button", { name: "user", exact: true }).click();
  await declare("level");
  await section.getByRole("combobox", { name: "Type", exact: true }).click();
  await page.getByRole("option", { name: "Whole number" }).click();
  await section.getByRole("switch").click();
  await app.picture("context-fields", ["light", "dark"]);
  expect((await saved()).context).toEqual({
    user: { type: "string", description: "Who is greeted" },
    level: { type: "integer", default: 0 },
  });

  await app.id("use-debug").click();
  await app.id("run").click();
  const form = app.id("run-context");
  const user = form.getByTestId("field-/user").getByRole("textbox");
  const sets = app.id("context-sets");
  const pick = async (name: string | RegExp) => {
    await sets.click();
    await page.getByRole("menu").getByText(name, { exact: true }).click();
  };
  for (const name of ["Ada", "Eve"]) {
    await user.fill(name.toLowerCase());
    await pick("Save as…");
    await app.id("context-set-name").fill(name);
    await page.keyboard.press("Enter");
    await expect(sets).toHaveText(name);
  }
  await pick("Ada");
  await expect(user).toHaveValue("ada");
  await user.fill("ada l.");
  await expect(sets).toHaveText("Ada, changed");
  await sets.click();
  await app.picture("context-sets", ["light", "dark"]);
  await page.getByRole("menu").getByText("Save changes to “Ada”").click();
  await expect(sets).toHaveText("Ada");
  await pick("Rename “Ada”…");
  await app.picture("context-set-name", ["light", "dark"]);
  await app.id("context-set-name").fill("Eve");
  await expect(app.id("context-set-naming")).toContainText("exists already");
  await app.id("context-set-name").fill("Ada L.");
  await page.keyboard.press("Enter");
  await expect(sets).toHaveText("Ada L.");
  const kept = [
    { name: "Ada L.", values: { user: "ada l." } },
    { name: "Eve", values: { user: "eve" } },
  ];
  expect((await saved()).context_sets).toEqual(kept);

  await pick("Delete “Ada L.”");
  await expect(sets).toHaveText("Saved values");
  await page.keyboard.press("Control+z");
  await expect(sets).toHaveText("Ada L.");
  await pick("Eve");
  await app.id("run-start").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("said")).toContainText("eve0");
});
