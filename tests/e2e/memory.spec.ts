/** Long-term memory: what a graph remembers is found, changed while nothing else did, removed and put back. */
import { expect, test } from "./superstep";

test("find what a run remembered, change it, remove it and take that back", async ({ app, page }) => {
  await app.openExample("memory-chat");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");

  await app.command("Long-term memory");
  await expect(app.id("memory")).toBeVisible();
  const item = app.id("memory-item");
  await expect(item.first()).toContainText("people/");
  const before = await item.count();

  await item.first().click();
  const value = app.id("memory-value").locator(".cm-content");
  await value.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"text": "prefers nougat"');
  await app.id("memory-save").click();
  // What is typed while it is saved and read again stays.
  await value.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"text": "prefers marzipan"');
  await expect(app.id("memory-save")).toBeEnabled();
  await app.id("memory-save").click();
  await expect(app.id("memory-save")).toBeDisabled();
  await app.id("memory-search").fill("marzipan");
  await expect(item).toHaveCount(1);
  await expect(item).toContainText("prefers marzipan");

  // What was typed is not lost by a click beside it.
  await item.click();
  await value.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("broken");
  await app.id("memory-add").click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(value).toContainText("broken");
  await page.getByRole("button", { name: "Revert" }).click();
  await expect(value).toContainText("marzipan");

  await app.id("memory-remove").click();
  await expect(item).toHaveCount(0);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(item).toHaveCount(1);
  await app.id("memory-search").fill("");
  await expect(item).toHaveCount(before);

  // Found by spelling from now on, and forgotten after a while; set with the keyboard. What is there has no vectors yet.
  await page.getByRole("button", { name: "Search settings" }).press("Enter");
  await app.id("memory-way").press("Enter");
  await page.getByRole("option", { name: /^Spelling/ }).press("Enter");
  await expect(app.id("memory-way-changes")).toContainText("have no embeddings of this kind");
  await app.id("memory-ttl").fill("30");
  await app.id("memory-ttl").press("Enter");
  await expect(app.id("memory-apply")).toBeDisabled();
  const outdated = app.id("memory-outdated");
  await expect(outdated).toContainText("not found by similarity");
  // At the press of a button it gets them, and is found.
  await outdated.getByRole("button").press("Enter");
  await expect(outdated).toHaveCount(0);
  await page.keyboard.press("Escape");
  await app.command("Long-term memory");
  await app.id("memory-search").fill("marzipann");
  await expect(item.first()).toContainText("prefers marzipan");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect(app.id("memory")).toHaveCount(0);
  await app.id("run").click();
  await app.id("run-start").click();
  // The run before was done as well.
  await expect(app.id("timeline")).toContainText("12 checkpoints");
  await app.status("done");
  await app.command("Long-term memory");
  await app.id("memory-search").fill("marzipann");
  await page.getByRole("tab", { name: "Words" }).click();
  await expect(item).toHaveCount(0);
  await page.getByRole("tab", { name: "Similarity" }).click();
  await item.first().click();
  await expect(app.id("memory")).toContainText("Expires ");
});

test("see which steps used an item, go to one, and what it was at the selected step", async ({ app, page }) => {
  await app.openExample("memory-chat");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  const memory = async () => {
    await app.command("Long-term memory");
    await app.id("memory-item").first().click();
  };
  await memory();
  const use = app.id("memory-use");
  const written = use.and(page.locator("[data-action=written]"));
  await expect(written.first()).toContainText("Written by");
  await expect(app.id("memory-at-moment")).toHaveAttribute("data-known", "same");
  await written.first().click();
  // The step of the task that wrote it, with what it did.
  await expect(app.id("memory")).toBeHidden();
  await expect(app.id("task-memory").locator("[data-action=written]").first()).toContainText("Wrote memory");
  // Before that step ended nothing had been written.
  await memory();
  await expect(app.id("memory-at-moment")).not.toHaveAttribute("data-known", "same");
});
