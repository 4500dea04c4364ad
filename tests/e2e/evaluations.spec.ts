/** The evaluation of the refund desk: run, looked into, run again after a change; a thread becomes a row. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "./superstep";

const root = resolve(import.meta.dirname, "../../graphs/refund-desk");
const desk = JSON.parse(readFileSync(join(root, "graph.json"), "utf8")) as Record<string, any>;
const own = (name: string) => readFileSync(join(root, "evaluations", name), "utf8");

test("an evaluation is run, says which rows do not pass and why, and runs only what changed", async ({ app, page }) => {
  const file = app.write("graphs/refund-desk/graph.json", desk);
  await app.open();
  await app.openFile(file);
  await app.command("evaluations of this graph");
  await expect(app.id("evaluations")).toContainText("No evaluations yet");
  await page.keyboard.press("Escape");

  app.writeText("graphs/refund-desk/evaluations/requests.json", own("requests.json"));
  app.writeText("graphs/refund-desk/evaluations/requests.csv", own("requests.csv"));
  await app.command("evaluations of this graph");
  await expect(app.id("evaluations-summary")).toContainText("24 rows · 2 variants");
  await app.id("evaluations-run").click();
  const plain = app.id("evaluations-variant-as it is");
  const more = app.id("evaluations-variant-more words");
  await expect(plain).toContainText("21 of 24");
  await expect(plain).toContainText("69–96%");
  await expect(more).toContainText("24 of 24");
  await expect(more).toContainText("3 better");
  await expect(more).toContainText("0 worse");
  await expect(app.id("evaluations-rows").locator("li")).toHaveCount(3);
  await app.picture("evaluations", ["light", "dark"]);

  // A row says why, by the keyboard.
  const row = app.id("evaluations-row-16");
  await row.getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  await expect(app.id("evaluations-reasons-as it is")).toContainText('"paid" expected, "forwarded" found');
  await app.picture("evaluations-row", ["light", "dark"]);
  await page.keyboard.press("ArrowDown");
  await expect(app.id("evaluations-row-17").getByRole("button").first()).toBeFocused();

  // Nothing changed: nothing runs again. Then the words are put into the graph, and it is the other variant.
  await app.id("evaluations-run").click();
  await expect(app.id("evaluations-reasons-as it is")).toContainText("kept from before");
  await page.keyboard.press("Escape");
  const changed = structuredClone(desk);
  const better = JSON.parse(own("requests.json")) as { variants: { settings?: Record<string, string> }[] };
  changed["nodes"]["classify"]["config"]["script"][0]["when"] = Object.values(better.variants[1]?.settings ?? {})[0];
  writeFileSync(file, JSON.stringify(changed));
  await expect
    .poll(async () => {
      const { open } = await app.rpc<{ open: { graphId: string }[] }>("app.info", {});
      const graph = await app.rpc<{ records: unknown[] }>("graph.get", { graphId: open[0]?.graphId });
      return JSON.stringify(graph.records);
    })
    .toContain("'missing'");
  await app.command("evaluations of this graph");
  await app.id("evaluations-run").click();
  await expect(plain).toContainText("24 of 24");
  await expect(plain).toContainText("3 better");
  await app.id("evaluations-history").click();
  await expect(app.id("evaluations-past").locator("tr")).toHaveCount(6);

  // A row runs as a thread.
  await app.id("evaluations-row-1").getByRole("button").first().click();
  await app.id("evaluations-open-row").click();
  await expect(app.id("evaluations")).toBeHidden();
  await app.status("asking");
});

test("a thread becomes a row, and a file that cannot be used is named", async ({ app, page }) => {
  const file = app.write("graphs/refund-desk/graph.json", desk);
  app.write("graphs/refund-desk/evaluations/desk.json", { rows: "desk.jsonl", scores: { right: { key: "outcome" } } });
  const rows = app.writeText("graphs/refund-desk/evaluations/desk.jsonl", '{"request": "tru\n');
  await app.open();
  await app.openFile(file);
  await app.command("evaluations of this graph");
  await expect(app.id("evaluations")).toContainText("line 1: it is not JSON");
  await page.keyboard.press("Escape");
  writeFileSync(rows, '{"input": {"request": "The cup is broken."}, "answers": [{"decision": "approve"}], "expect": {"outcome": "paid"}}\n');

  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  await app.id("answer-choice").filter({ hasText: "Approve" }).click();
  await app.status("done");
  await app.id("thread").first().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Add to an evaluation…" }).click();
  await app.id("evaluations-add-name").fill("the lamp");
  await app.picture("evaluations-add", ["light", "dark"]);
  await page.keyboard.press("Enter");
  await expect(app.id("evaluations-add")).toBeHidden();
  const added = JSON.parse(readFileSync(rows, "utf8").trimEnd().split("\n")[1] ?? "") as Record<string, unknown>;
  expect(added["name"]).toBe("the lamp");
  expect(added["answers"]).toEqual([{ decision: "approve" }]);
  expect(added["expect"]).toEqual({ outcome: "paid" });

  await page.getByRole("button", { name: "Show evaluations" }).click();
  await app.id("evaluations-run").click();
  await expect(app.id("evaluations-variant-as it is")).toContainText("2 of 2");
});
