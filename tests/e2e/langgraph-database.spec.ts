/**
 * The threads of a LangGraph program, opened by somebody who has its database and nothing else: what they show of their graph,
 * what can be asked of them, what is off and why, and that a program which goes on is seen.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const GIVEN = resolve(import.meta.dirname, "../../crates/storage/tests/langgraph");

function database(app: Superstep, name = "sqlite-1.2.24.db"): string {
  const file = app.writeText("program/agent.sqlite", "");
  copyFileSync(join(GIVEN, name), file);
  return file;
}

/** Stores as a program does, with a log beside the file. */
function asTheProgram(file: string, sql: string): void {
  const script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('PRAGMA journal_mode = WAL'); db.executescript(sys.argv[2])";
  execFileSync("python3", ["-c", script, file, sql]);
}

/** The way in of the start screen. */
async function openDatabase(app: Superstep, page: Page, file: string): Promise<void> {
  await app.open();
  await app.id("start-seen").click();
  await app.id("file-path").fill(file);
  await page.keyboard.press("Enter");
  await expect(app.id("use-debug")).toHaveAttribute("aria-checked", "true");
  await expect(app.id("seen")).toBeVisible();
}

const thread = (page: Page, id: string) => page.locator(`[data-testid="thread"][data-thread="${id}"]`);

test("a LangGraph database leads to its threads on the graph that they show", { tag: "@docs" }, async ({ app, page }) => {
  await openDatabase(app, page, database(app));
  await expect(app.id("seen")).toContainText("Seen in all 4 threads");
  for (const name of ["read", "cost", "join", "review", "decide"]) await expect(app.node(name)).toBeVisible();
  await thread(page, "done").click();
  await expect(app.node("cost")).toHaveAttribute("data-state", "done");
  await expect(app.node("cost").getByTestId("card-runs")).toHaveText("×2");
  await app.picture("langgraph", ["light", "dark"]);

  // Who wrote this value?
  await page.getByTestId("state-inspector").getByTestId("tab-state").click();
  await app.keyButton("verdict", "state-why");
  await expect(page.getByTestId("provenance-write").first()).toContainText("by decide");
  await app.picture("langgraph-why", ["light", "dark"]);
  await app.id("provenance").getByRole("button", { name: "State" }).click();

  // What did it look like then?
  await app.checkpoint(1, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await expect(app.node("cost")).toHaveAttribute("data-state", "next");
  await expect(app.node("decide")).toHaveAttribute("data-state", "idle");
  await page.getByRole("button", { name: /Back to now/ }).click();
  await expect(app.id("past")).toHaveCount(0);

  // What asks, and on which graph?
  await thread(page, "waiting").click();
  await expect(app.node("review")).toHaveAttribute("data-state", "asking");
  await app.id("use-approve").click();
  await expect(app.id("question").first()).toContainText("agent");
});

test("what only the program can do is off, and says why", async ({ app, page }) => {
  await openDatabase(app, page, database(app));
  const why = "another program’s";
  await expect(app.id("use-design")).toBeDisabled();
  await thread(page, "done").hover();
  await thread(page, "done").getByRole("button", { name: "More" }).click();
  for (const name of ["Delete…", "Duplicate"]) {
    const entry = page.getByRole("menuitem", { name });
    await expect(entry).toHaveAttribute("aria-disabled", "true");
    await expect(entry).toContainText(why);
  }
  await page.keyboard.press("Escape");
  // A right click opens the same, and chooses nothing.
  await thread(page, "done").click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: "Copy into my own threads" })).toBeVisible();
  await expect(thread(page, "done")).toHaveAttribute("aria-selected", "false");
  await app.picture("langgraph-thread-menu", ["light", "dark"]);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menuitem", { name: "Copy into my own threads" })).toHaveCount(0);
  await app.node("cost").click({ button: "right" });
  const before = page.getByRole("menuitemcheckbox", { name: "Stop before this node" });
  await expect(before).toHaveAttribute("aria-disabled", "true");
  await expect(before).toContainText(why);
  await page.keyboard.press("Escape");
  // Nor is anything run again, edited or begun, from wherever that is done.
  await expect(app.id("thread-new")).toBeDisabled();
  await thread(page, "done").click();
  await app.checkpoint(1, "loop").hover();
  await app.checkpoint(1, "loop").getByTestId("checkpoint-menu").click();
  for (const name of ["Replay from here", "What if"]) {
    const entry = page.getByRole("menuitem", { name }).first();
    await expect(entry).toHaveAttribute("aria-disabled", "true");
    await expect(entry).toContainText(why);
  }
  await page.keyboard.press("Escape");
  await page.getByTestId("state-inspector").getByTestId("tab-state").click();
  await app.key("verdict").hover();
  await expect(app.key("verdict").getByTestId("state-edit")).toBeDisabled();
  // A double click opens nothing to write in.
  await app.node("cost").dblclick();
  await expect(app.node("cost").getByRole("textbox")).toHaveCount(0);
  // Nothing is saved over, and a graph of one's own can be made of it.
  await page.keyboard.press("Control+s");
  await expect(app.id("toast").first()).toContainText("There is nothing to save");
  await app.id("seen-own").click();
  await expect(app.id("use-design")).toHaveAttribute("aria-checked", "true");
  await expect(app.id("seen")).toHaveCount(0);
  await expect(app.node("cost")).toBeVisible();
});

test("the key of encrypted values is asked for, and a wrong one is said so", async ({ app, page }) => {
  await openDatabase(app, page, database(app, "encrypted-1.2.24.db"));
  const dialog = app.id("secret-dialog");
  const enter = async (key: string) => {
    await expect(dialog).toContainText("LANGGRAPH_AES_KEY");
    await app.id("secret-value").fill(key);
    await app.picture("langgraph-key", ["light", "dark"]);
    await app.id("secret-save").click();
    await expect(dialog).toHaveCount(0);
  };
  await enter("a key of thirty-two bytes, 12346");
  await expect(app.id("seen-sealed")).toContainText("the key is not theirs");
  await app.picture("langgraph-sealed", ["light", "dark"]);
  await app.id("seen-key").click();
  await enter("a key of thirty-two bytes, 12345");
  await expect(app.id("seen-sealed")).toHaveCount(0);
  await thread(page, "sealed").click();
  await expect(app.key("secret")).toBeVisible();
});

test("a thread that the program goes on with is in the window at once", async ({ app, page }) => {
  const file = database(app);
  await openDatabase(app, page, file);
  await expect(page.getByTestId("thread")).toHaveCount(4);
  asTheProgram(file, `
    BEGIN;
    INSERT INTO checkpoints SELECT 'live', checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
      FROM checkpoints WHERE thread_id = 'done' AND checkpoint_ns = '';
    INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value, task_path)
      SELECT 'live', checkpoint_ns, checkpoint_id, task_id, idx,
      replace(channel, 'branch:to:decide', 'branch:to:refuse'), type, value, task_path
      FROM writes WHERE thread_id = 'done' AND checkpoint_ns = '';
    COMMIT;`);
  await expect(thread(page, "live")).toBeVisible();
  await expect(app.node("refuse")).toBeVisible();
  await expect(app.id("seen")).toContainText("Seen in all 5 threads");
});

test("threads are shown on a graph of one's own, its nodes matched by hand", { tag: "@docs" }, async ({ app, page }) => {
  const node = { kind: "assign", config: { set: {} } };
  const file = app.write("graphs/mine/graph.json", {
    format: "superstep/1",
    name: "Mine",
    nodes: { read: node, price: node, join: node, check: node, decide: node },
    edges: [
      { from: "__start__", to: "read" },
      { from: "read", to: "price" },
      { from: "price", to: "join" },
      { from: "join", to: "check" },
      { from: "check", to: "decide" },
      { from: "decide", to: "__end__" },
    ],
    layout: { __start__: [0, 0], read: [140, 0], price: [420, 0], join: [700, 0], check: [980, 0], decide: [1260, 0] },
  });
  await openDatabase(app, page, database(app));
  await app.command("Show on a graph of my own");
  await app.id("file-path").fill(file);
  await page.keyboard.press("Enter");
  // Two nodes have no counterpart by name.
  await expect(app.id("laid-names")).toBeVisible();
  for (const [seen, ours] of [["cost", "price"], ["review", "check"]] as const) {
    await app.id(`laid-${seen}`).click();
    await page.getByRole("option", { name: ours }).click();
    await expect(app.id(`laid-${seen}`)).toContainText(ours);
  }
  await app.picture("langgraph-match", ["light", "dark"]);
  await app.id("laid-save").click();
  await expect(app.id("laid-names")).toHaveCount(0);
  await expect(app.id("seen-laid")).toContainText("5 of 5 nodes");
  await thread(page, "done").click();
  await expect(app.node("cost")).toContainText("price");
  await expect(app.node("cost")).toHaveAttribute("data-state", "done");
  await expect(app.node("cost").getByTestId("card-runs")).toHaveText("×2");
  await app.picture("langgraph-own", ["light", "dark"]);
  await app.id("seen-off").click();
  await expect(app.id("seen-laid")).toHaveCount(0);
  await expect(app.node("cost")).not.toContainText("price");
});

test("a thread is copied among one's own, opened there and deleted", async ({ app, page }) => {
  await openDatabase(app, page, database(app));
  await thread(page, "done").hover();
  await thread(page, "done").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Copy into my own threads" }).click();
  await app.id("copy-start").click();
  await expect(app.id("copy-done")).toContainText("1 new");
  await app.picture("langgraph-copy", ["light", "dark"]);
  await app.id("copy-open").click();
  await expect(app.id("seen")).toHaveCount(0);
  await expect(page.getByTestId("thread")).toHaveCount(1);
  await expect(app.node("cost")).toHaveAttribute("data-state", "done");
  await thread(page, "done").click();
  await page.keyboard.press("Delete");
  await page.getByTestId("confirm").click();
  await expect(page.getByTestId("thread")).toHaveCount(0);
});

test("an address is taken wherever a file is, and what is wrong with it is said in words", async ({ app, page }) => {
  await app.open();
  const typed = "postgres://reader:hunter4@127.0.0.1:1/app";
  const expectMoved = async () => {
    await expect(app.id("address-text")).toHaveValue("postgres://reader@127.0.0.1:1/app");
    await expect(app.id("address-password")).toHaveAttribute("type", "password");
  };
  // The dialog that asks for a file.
  await page.keyboard.press("Control+o");
  await app.id("file-path").fill(typed);
  await expectMoved();
  await app.picture("langgraph-address", ["light", "dark"]);
  await page.keyboard.press("Enter");
  await expect(app.id("address").getByRole("alert")).toContainText("127.0.0.1");
  await expect(app.id("address")).not.toContainText("hunter4");
  await page.keyboard.press("Escape");
  await expect(app.id("address")).toHaveCount(0);
  // The palette and the start screen.
  await app.command(typed);
  await expectMoved();
  await page.keyboard.press("Escape");
  await app.id("start-address").click();
  await expect(app.id("address-text")).toHaveValue("");
});
