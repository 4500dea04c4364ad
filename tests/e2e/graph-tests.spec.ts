/**
 * A thread becomes a test: run, approved, kept. Then the graph is changed, the test fails at the place that changed, and what
 * came is accepted.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "./superstep";

const root = resolve(import.meta.dirname, "../..");
const desk = JSON.parse(readFileSync(join(root, "graphs/refund-desk/graph.json"), "utf8")) as Record<string, any>;

test("a run that was approved is kept as a test, fails where the graph was changed, and is accepted", async ({ app, page }) => {
  const file = app.write("graphs/refund-desk/graph.json", desk);
  const expected = (name: string) => join(file, `../expect/${name}.json`);
  await app.open();
  await app.openFile(file);

  // Before there is any, the list says how a test comes about.
  await app.command("tests of this graph");
  await expect(app.id("tests")).toContainText("No tests yet");
  await expect(app.id("tests")).toContainText("Make a test…");
  await page.keyboard.press("Escape");

  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("answer-choice").filter({ hasText: "Approve" }).click();
  await app.status("done");

  // The menu of the thread: what happened is ticked, and a sentence of one's own is added.
  await app.id("thread").first().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Make a test…" }).click();
  const make = app.id("tests-make");
  await expect(app.id("tests-make-name")).toBeVisible();
  await expect(make).toContainText("1 input · 1 answer");
  await expect(app.id("tests-make-status")).toBeChecked();
  await expect(app.id("tests-make-key-outcome")).toBeChecked();
  await app.id("tests-make-name").fill("approved");
  await app.id("tests-make-add-holds").click();
  await make.getByPlaceholder("state.amount <= state.price").fill("state.amount <= state.price");
  await app.picture("tests-make", ["light", "dark"]);
  await page.keyboard.press("Enter");
  await expect(make).toBeHidden();
  const written = JSON.parse(readFileSync(expected("approved"), "utf8")) as Record<string, any>;
  expect(written["answers"]).toEqual([{ decision: "approve" }]);
  expect(written["holds"]).toEqual(["state.amount <= state.price"]);
  expect(written["expect"]["nodes"]).toEqual(["classify", "propose", "draft", "review", "pay", "close"]);

  // It passes, and stands below the threads.
  await app.id("tests-section").click();
  await app.id("tests-run-all").click();
  const row = app.id("tests-row-approved");
  await expect(row).toHaveAttribute("data-state", "passed");
  await expect(app.id("tests-summary")).toHaveText("1 of 1 test passed");
  await page.keyboard.press("Escape");

  // The code of a node is changed in an editor: payments have another reference.
  const changed = structuredClone(desk);
  const pay = changed["nodes"]["pay"]["config"];
  pay.source = pay.source.replaceAll("'R-'", "'S-'");
  expect(JSON.stringify(changed["nodes"]["pay"])).not.toBe(JSON.stringify(desk["nodes"]["pay"]));
  writeFileSync(file, JSON.stringify(changed));
  await expect
    .poll(async () => {
      const { open } = await app.rpc<{ open: { graphId: string }[] }>("app.info", {});
      const graph = await app.rpc<{ records: unknown[] }>("graph.get", { graphId: open[0]?.graphId });
      return JSON.stringify(graph.records);
    })
    .toContain("'S-'");
  await app.command("tests of this graph");
  await app.id("tests-run-approved").click();
  await expect(row).toHaveAttribute("data-state", "failed");
  const difference = row.getByTestId("tests-difference").first();
  await expect(difference).toHaveAttribute("data-at", /^\/expect\/values\/payment/);
  await expect(difference.getByTestId("tests-expected")).toContainText("R-");
  await expect(difference.getByTestId("tests-found")).toContainText("S-");
  await expect(difference).toContainText("Show pay");
  await app.picture("tests-failed", ["light", "dark"]);

  // With the keyboard alone: what came is right.
  await row.getByTestId("tests-accept").focus();
  await page.keyboard.press("Enter");
  await expect(row).toHaveAttribute("data-state", "passed");
  expect(readFileSync(expected("approved"), "utf8")).toContain("S-");
  await app.id("tests-run-all").click();
  await expect(row).toHaveAttribute("data-state", "passed");
  expect(existsSync(expected("approved"))).toBe(true);
});

test("a file that is no test is named and stays, and the arrows walk the list", async ({ app, page }) => {
  const file = app.write("graphs/refund-desk/graph.json", desk);
  const broken = app.writeText("graphs/refund-desk/expect/broken.json", '{"inputs": [{"request": "tru');
  app.write("graphs/refund-desk/expect/other.json", {
    inputs: [{ request: "Where is my parcel?", price: 10, days: 1 }],
    expect: { nodes: ["classify", "forward", "close"] },
  });
  await app.open();
  await app.openFile(file);
  await app.command("tests of this graph");
  const row = app.id("tests-row-broken");
  await expect(row).toHaveAttribute("data-state", "unreadable");
  await row.getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  await expect(row).toContainText("EOF while parsing");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(app.id("tests-row-other")).toHaveAttribute("data-state", "passed");
  expect(readFileSync(broken, "utf8")).toBe('{"inputs": [{"request": "tru');
});
