/** Looking after threads: a copy, a bookmark, the past removed, another database and back. */
import { expect, test } from "./superstep";

test("copy a thread, bookmark a checkpoint, remove the past, change the database", async ({ app, page }) => {
  await app.openExample("refund-desk");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");

  const selected = page.locator('[data-testid="thread"][aria-selected="true"]');
  const fromMenu = async (entry: string) => {
    await selected.hover();
    await selected.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await fromMenu("Duplicate");
  await expect(selected).toContainText("Copy of");
  await expect(app.id("thread")).toHaveCount(2);

  await app.checkpoint(1).hover();
  await app.checkpoint(1).locator('[data-testid="checkpoint-menu"]').click();
  await page.getByRole("menuitem", { name: "Bookmark…" }).click();
  await app.id("storage-bookmark-name").fill("Before the draft");
  await app.id("storage-bookmark-note").fill("Asked for tea.\nThe second line shows when the pointer rests here.");
  await app.id("storage-bookmark").getByRole("button", { name: "Bookmark", exact: true }).click();
  await expect(app.checkpoint(1)).toContainText("Before the draft");
  const bookmark = app.checkpoint(1).locator('[data-testid="bookmark"]');
  await expect(bookmark).toContainText("Asked for tea.");
  await expect(bookmark).not.toContainText("The second line");
  await expect(bookmark).toHaveAttribute("title", /tea\.\nThe second line/);
  await app.checkpoint(1).hover();
  await app.checkpoint(1).locator('[data-testid="checkpoint-menu"]').click();
  await page.getByRole("menuitem", { name: "Edit bookmark…" }).click();
  await expect(app.id("storage-bookmark-note")).toHaveValue(/second line/);
  await page.keyboard.press("Escape");

  // Nothing goes before it was said what goes; the bookmark stays, and the question still waits.
  await fromMenu("Delete history…");
  await expect(app.id("storage-plan")).toContainText("Deletes 3 checkpoints.");
  await expect(app.id("storage-plan")).toContainText("Keeps a bookmarked checkpoint.");
  await app.id("confirm").click();
  await expect(app.id("checkpoint")).toHaveCount(2);
  await app.status("asking");

  await app.command("Storage");
  await page.getByRole("tab", { name: "Database" }).click();
  await app.id("storage-path").fill("nowhere/other.db");
  await app.id("storage-test").click();
  await expect(app.id("storage")).toContainText("There is no folder");
  await app.id("storage-path").fill("other.db");
  await app.id("storage-use").click();
  await expect(app.id("storage-in-use")).toContainText("other.db");
  await expect(app.id("thread")).toHaveCount(0);
  await app.id("storage-back").click();
  await expect(app.id("storage-in-use")).toContainText("threads.db");
  await expect(app.id("thread")).toHaveCount(2);
});
