/** Tags and metadata of runs, and outputs that are pinned. */
import { expect, test } from "./superstep";

test("runs are given tags and metadata, and threads are found by them", async ({ app, page }) => {
  await app.openExample("counter");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.id("thread-new").click();
  await app.id("run-labels").click();
  await app.id("run-label-tags").fill("nightly, eval");
  await app.id("run-label-metadata").fill("customer=acme");
  await app.id("run-start").click();
  await app.status("done");
  const thread = app.id("thread");
  await expect(thread).toHaveCount(2);
  await expect(thread.first()).toContainText("eval");
  await expect(app.id("thread-labels")).toContainText("customer=acme");

  await app.id("thread-filter").click();
  await page.getByRole("menuitemcheckbox", { name: "customer=acme" }).click();
  await expect(thread).toHaveCount(1);
  await expect(app.id("thread-labels-badge")).toContainText("customer=acme");
  await app.id("thread-labels-badge").getByRole("button", { name: "Show all" }).click();
  await expect(thread).toHaveCount(2);
});

test("a pinned output is used instead of the node, until it is unpinned", async ({ app, page }) => {
  await app.openExample("counter");
  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("done");
  await app.node("finish").click();
  await app.id("pin-output").click();
  await expect(app.id("pin-mark")).toHaveText("Pinned");
  await app.id("thread-new").click();
  await app.id("run-start").click();
  await app.status("done");
  await expect(app.id("pinned-run")).toContainText("finish");
  await app.node("increment").click();
  await app.node("finish").click();
  await expect(app.id("task-record")).toContainText("did not run");
  await page.reload();
  await expect(app.id("pin-mark")).toHaveText("Pinned");
  await app.node("finish").click();
  await app.id("pin-output").click();
  await expect(app.id("pin-mark")).toHaveCount(0);
});
