/** Work over several graphs of a folder: finding and replacing, uses and renaming, tabs, kept undo, and git. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./superstep";

const graph = (name: string, prompt: string) => ({
  format: "superstep/1",
  name,
  state: { order: { type: "string" }, reply: { type: "string" } },
  nodes: {
    greet: { kind: "assign", title: "Greet the customer", config: { set: { reply: "'Hello customer ' ~ state.order" } } },
    shout: { kind: "code", config: { source: "return { reply: state.reply + state.order };" } },
    remark: { kind: "note", config: { text: prompt } },
  },
  edges: [
    { from: "__start__", to: "greet" },
    { from: "greet", to: "shout", when: "state.order != ''" },
    { from: "shout", to: "__end__" },
  ],
  layout: { __start__: [0, 40], greet: [180, 20], shout: [520, 20], __end__: [860, 40], remark: [180, 220] },
});

const main = graph("Main desk", "Customer remarks");

const inspected = (page: Page, node: string) =>
  expect(page.getByRole("textbox", { name: "Node name" })).toHaveValue(node);

test("texts are found in the graph and its folder, and a click goes to the setting", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  app.write("graphs/desk/parts/other.json", graph("Other desk", "The customer is king"));
  await app.open();
  await app.openFile(file);
  await page.keyboard.press("Control+f");
  await expect(app.id("find-text")).toBeFocused();
  await page.keyboard.type("customer");
  await expect(app.id("find-status")).toContainText("3 matches");
  // Upper and lower case, whole words, regular expressions.
  await app.id("find-case").click();
  await expect(app.id("find-status")).toContainText("2 matches");
  await app.id("find-case").click();
  await app.id("find-regex").click();
  await app.id("find-text").fill("hello (");
  await expect(app.id("find-panel").getByRole("alert")).toContainText("cannot be read");
  await app.id("find-text").fill("hello \\w+");
  await expect(app.id("find-status")).toContainText("1 match");
  await app.id("find-regex").click();
  // The field of a setting takes the cursor.
  await app.id("find-text").fill("hello");
  await app.id("find-match-1").click();
  await inspected(page, "greet");
  await expect(page.locator("[data-pointer='/config/set/reply'] :focus")).toBeAttached();
  // The folder: another graph opens at its match.
  await page.keyboard.press("Control+Alt+f");
  await app.id("find-text").fill("king");
  await expect(app.id("find-file-0")).toContainText("parts/other.json");
  await app.picture("find-folder", ["light", "dark"]);
  await page.keyboard.press("Enter");
  await expect(app.id("graph-name")).toHaveText("Other desk");
  await inspected(page, "remark");
});

test("filters list nodes without a text: with problems, disabled, notes, of a kind", async ({ app, page }) => {
  const broken = structuredClone(main) as ReturnType<typeof graph> & { nodes: Record<string, object> };
  broken.nodes["shout"] = { kind: "code", disabled: true, config: { source: "return {" } };
  await app.openGraph(broken);
  await page.keyboard.press("Control+f");
  const choose = async (filter: string, option: string) => {
    await app.id(filter).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  await choose("find-nodes", "Disabled");
  await expect(app.id("find-record-0")).toContainText("shout");
  await expect(app.id("find-status")).toContainText("1 node");
  await choose("find-nodes", "Notes");
  await expect(app.id("find-record-0")).toContainText("remark");
  await choose("find-nodes", "All nodes");
  await choose("find-kind", "Assign");
  await expect(app.id("find-record-0")).toContainText("greet");
  await app.id("find-record-0").click();
  await inspected(page, "greet");
});

test("replacing shows what becomes of each match, is one step, and writes files that are not open", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  const other = app.write("graphs/desk/other.json", graph("Other desk", "The customer is king"));
  await app.open();
  await app.openFile(file);
  await page.keyboard.press("Control+h");
  await app.id("find-text").fill("customer");
  await app.id("find-replacement").fill("guest");
  await expect(app.id("find-panel").locator("ins").first()).toHaveText("guest");
  await app.picture("find-replace", ["light", "dark"]);
  // One match: nothing is asked, because only the open graph changes.
  const first = app.id("find-panel").getByRole("button", { name: "Replace", exact: true }).nth(1);
  await first.click();
  await expect(app.id("find-status")).toContainText("5 matches");
  await app.id("find-replace-all").click();
  await expect(page.getByRole("dialog")).toContainText("other.json");
  expect(readFileSync(other, "utf8")).toContain("customer");
  await app.id("confirm").click();
  await expect(app.id("find-status")).toContainText("0 matches");
  const written = JSON.parse(readFileSync(other, "utf8")) as ReturnType<typeof graph>;
  expect(written.nodes.remark.config.text).toBe("The guest is king");
  expect(written.nodes.greet.title).toBe("Greet the guest");
  expect(readFileSync(file, "utf8"), "the open graph is written when it is saved").toContain("customer");
  // Two steps of undo: the one match, and the rest at once.
  await app.id("undo").click();
  await expect(app.id("find-status")).toContainText("2 matches");
  await app.id("undo").click();
  await expect(app.id("find-status")).toContainText("3 matches");
});

test("uses of a key are listed, and it is renamed everywhere in one step, in programs where that is chosen", async ({ app, page }) => {
  await app.openGraph(main);
  await app.id("tab-keys").click();
  await app.id("state-key-order").focus();
  await page.keyboard.press("Shift+F12");
  await expect(app.id("uses-head")).toContainText("order");
  const rows = app.id("find-panel").locator("[data-testid^='find-match-']");
  await expect(rows).toHaveCount(4);
  await app.picture("uses", ["light", "dark"]);
  await rows.filter({ hasText: "return" }).click();
  await inspected(page, "shout");
  await app.id("state-key-order").focus();
  await page.keyboard.press("F2");
  await expect(app.id("rename-everywhere")).toContainText("2 exact uses");
  await app.id("rename-to").fill("parcel");
  await app.picture("rename", ["light"]);
  await expect(app.id("rename-to")).toHaveValue("parcel");
  await app.id("rename-to").press("Enter");
  await expect(app.id("rename-to")).toHaveCount(0);
  await expect(app.id("state-key-parcel"), "the key has its new name").toBeVisible();
  await expect(app.id("uses-head")).toContainText("parcel");
  await expect(rows).toHaveCount(4);
  await expect(rows.filter({ hasText: "state.reply + state.parcel" })).toHaveCount(1);
  await app.id("undo").click();
  await expect(app.id("state-key-order")).toBeVisible();
  await expect(app.id("state-key-parcel")).toHaveCount(0);
  await expect(app.id("uses-head"), "the list goes back with it").toContainText("order");
  await expect(rows).toHaveCount(4);
  // From an expression: the key under the cursor.
  await app.node("greet").click();
  const field = page.locator("[data-pointer='/config/set/reply'] .cm-content");
  await field.click();
  await page.keyboard.press("End");
  await page.keyboard.press("F12");
  await expect(page.locator("[data-key='order'][data-open]")).toBeVisible();
});

test("graphs have tabs: each keeps its view, selection and undo; they close with a question and come back", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  const second = app.write("graphs/desk/second.json", graph("Second", "two"));
  const third = app.write("graphs/desk/third.json", graph("Third", "three"));
  await app.open();
  await app.openFile(file);
  await expect(app.id("graph-tabs"), "one graph needs no tabs").toHaveCount(0);
  await app.node("greet").click();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toBeVisible();
  await app.openFile(second);
  await app.openFile(third);
  await app.node("shout").click();
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, 300);
  await app.picture("tabs", ["light", "dark"]);
  await expect(app.id("graph-tab-Main desk").locator("[role=img]"), "a dot for what is not saved").toBeVisible();
  // Keys walk round, and each graph is as it was left.
  await page.keyboard.press("Control+Tab");
  await expect(app.id("graph-name")).toHaveText("Main desk");
  await inspected(page, "greet");
  await page.keyboard.press("Control+z");
  await expect(app.id("disabled")).toHaveCount(0);
  await expect(app.id("graph-tab-Main desk").locator("[role=img]"), "the edits are counted, not compared").toBeVisible();
  await page.keyboard.press("Control+Shift+Tab");
  await expect(app.id("graph-name")).toHaveText("Third");
  await inspected(page, "shout");
  // Another place, by the pointer.
  await app.id("graph-tab-Third").dragTo(app.id("graph-tab-Main desk"), { targetPosition: { x: 4, y: 8 } });
  await expect(page.getByRole("tablist", { name: "Open graphs" }).getByRole("tab").first()).toHaveText("Third");
  // A reloaded window has them all, in their order.
  await page.reload();
  await expect(app.id("graph-name")).toHaveText("Third");
  await expect(page.getByRole("tablist", { name: "Open graphs" }).getByRole("tab")).toHaveText(["Third", "Main desk", "Second"]);
  // Closing: nothing is asked without changes, and asked with some.
  await app.id("graph-tab-Third").click({ button: "middle" });
  await expect(app.id("graph-name")).toHaveText("Main desk");
  await page.keyboard.press("Control+w");
  await expect(app.id("closing")).toContainText("Main desk");
  await app.picture("tab-closing", ["light"]);
  await page.keyboard.press("Escape");
  await expect(app.id("graph-name")).toHaveText("Main desk");
  await page.keyboard.press("Control+w");
  await app.id("close-save").click();
  await expect(app.id("graph-name")).toHaveText("Second");
  await expect(app.id("graph-tabs")).toHaveCount(0);
  await page.keyboard.press("Control+w");
  await expect(app.id("start-screen")).toBeVisible();
});

test("a nested graph opens in a tab, and the way back stays with it", async ({ app, page }) => {
  app.write("graphs/desk/inner.json", graph("Inner", "in"));
  const outer = {
    format: "superstep/1",
    name: "Outer",
    state: { order: { type: "string" }, reply: { type: "string" } },
    nodes: { part: { kind: "graph", config: { graph: "inner.json" } } },
    edges: [{ from: "__start__", to: "part" }, { from: "part", to: "__end__" }],
    layout: { __start__: [0, 40], part: [200, 20], __end__: [500, 40] },
  };
  await app.open();
  await app.openFile(app.write("graphs/desk/graph.json", outer));
  await app.node("part").dblclick();
  await expect(app.id("graph-name")).toHaveText("Inner");
  await expect(app.id("graph-trail")).toContainText("Outer");
  await app.id("graph-tab-Outer").click();
  await expect(app.id("graph-trail")).toHaveCount(0);
  await app.id("graph-tab-Inner").click();
  await expect(app.id("graph-trail")).toContainText("Outer");
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(app.id("graph-name")).toHaveText("Outer");
  await expect(app.id("graph-tab-Inner")).toBeVisible();
});

test("undo goes on where it was when the graph is opened again, and not when its file was changed outside", async ({ app, page }) => {
  const file = await app.openGraph(main);
  await app.node("greet").click();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toBeVisible();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toHaveCount(0);
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toBeVisible();
  await app.id("undo").click();
  await expect(app.id("disabled")).toHaveCount(0);
  await page.keyboard.press("Control+s");
  await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
  const kept = page.waitForResponse((response) => response.url().includes("graph.keepSteps"));
  await kept;
  await app.crash();
  await app.openFile(file);
  await app.id("undo").click();
  await expect(app.id("disabled")).toBeVisible();
  await app.id("redo").click();
  await app.id("redo").click();
  await expect(app.id("disabled")).toBeVisible();
  await app.id("undo").click();
  await page.keyboard.press("Control+s");
  await page.waitForResponse((response) => response.url().includes("graph.keepSteps"));
  await page.keyboard.press("Control+w");
  await expect(app.id("start-screen")).toBeVisible();
  writeFileSync(file, JSON.stringify(graph("Changed outside", "x")));
  await app.openFile(file);
  await expect(app.id("toast")).toContainText("undo steps are gone");
  await expect(app.id("undo")).toBeDisabled();
});

/** Runs git as a person without a configuration of their own. */
function git(folder: string, ...args: string[]): void {
  try {
    execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@example.org", ...args], {
      cwd: folder,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "ignore",
    });
  } catch (error) {
    // A merge with a conflict ends with a failure.
    if (args[0] !== "merge") throw error;
  }
}

test("what changed since the last commit is listed and marked", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  const folder = dirname(file);
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "first");
  const next = structuredClone(main) as ReturnType<typeof graph> & { nodes: Record<string, object> };
  next.nodes["extra"] = { kind: "assign", config: { set: { reply: "'x'" } } };
  next.nodes.greet.title = "Say hello";
  next.layout.shout = [560, 90];
  writeFileSync(file, JSON.stringify(next));
  await app.open();
  await app.openFile(file);
  await app.id("bottom-bar").getByText("Changes").click();
  await expect(app.id("git-summary")).toHaveText("2 changes since the last commit");
  await expect(app.id("git-moved")).toContainText("shout");
  await app.id("git-record-node:greet").getByRole("button").first().click();
  await expect(app.id("git-record-node:greet")).toContainText("Greet the customer");
  await app.id("git-mark").click();
  await expect(app.node("greet").locator("[data-testid='git-badge']")).toHaveText("Changed");
  await expect(app.node("extra").locator("[data-testid='git-badge']")).toHaveText("Added");
  await app.picture("git-changes", ["light", "dark"]);
  // An edit counts at once.
  await app.node("shout").click();
  await page.keyboard.press("d");
  await expect(app.id("git-summary")).toHaveText("3 changes since the last commit");
});

test("commits of a graph's file are versions: shown, compared and restored", async ({ app, page }) => {
  const old = app.write("graphs/desk/old.json", main);
  const folder = dirname(old);
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "Desk: greet the customer");
  git(folder, "mv", "old.json", "graph.json");
  git(folder, "commit", "-q", "-m", "Desk: another file name");
  const next = structuredClone(main) as ReturnType<typeof graph> & { nodes: Record<string, object> };
  next.nodes["extra"] = { kind: "assign", config: { set: { reply: "'x'" } } };
  const file = app.write("graphs/desk/graph.json", next);
  git(folder, "commit", "-q", "-am", "Desk: an extra node, which nothing leads to yet, for the reply of the next release");
  await app.open();
  await app.openFile(file);
  await app.node("greet").click();
  await app.id("tab-versions").click();
  const commits = app.id("version-commits").locator("li");
  await expect(commits).toHaveCount(3);
  await expect(commits.nth(2)).toContainText("Desk: greet the customer");
  await expect(commits.nth(2)).toContainText("old.json");

  await commits.nth(2).getByRole("button", { name: "Compare" }).click();
  await expect(app.id("version-diff-node:extra")).toHaveAttribute("data-mark", "added");
  await app.picture("versions-of-git", ["light", "dark"]);
  await commits.nth(2).getByRole("button", { name: /^Restore/ }).click();
  // The version that is compared has no such node either: it is restored when there is a step to undo.
  await expect(app.id("undo")).toHaveAccessibleName(/restore the version/);
  await expect(app.node("extra")).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(app.node("extra")).toBeVisible();

  // A commit of another program is there when the window comes back.
  git(folder, "commit", "-q", "--allow-empty", "-m", "Not of the file");
  app.write("graphs/desk/graph.json", { ...next, description: "Greets." });
  git(folder, "commit", "-q", "-am", "Desk: described");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(commits).toHaveCount(4);
  await expect(commits.first()).toContainText("Desk: described");
});

test("a file with conflict marks is merged record by record", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  const folder = dirname(file);
  const text = (change: (made: ReturnType<typeof graph>) => void) => {
    const made = structuredClone(main);
    change(made);
    writeFileSync(file, JSON.stringify(made, null, 2));
  };
  text(() => {});
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "base");
  git(folder, "checkout", "-q", "-b", "topic");
  text((made) => {
    made.nodes.greet.title = "Theirs";
    made.nodes.remark.config.text = "Theirs, too";
  });
  git(folder, "commit", "-q", "-am", "theirs");
  git(folder, "checkout", "-q", "main");
  text((made) => {
    made.nodes.greet.title = "Ours";
    made.nodes.remark.config.text = "Ours, too";
  });
  git(folder, "commit", "-q", "-am", "ours");
  git(folder, "merge", "-q", "topic");
  expect(readFileSync(file, "utf8")).toContain("<<<<<<<");
  await app.open();
  await page.keyboard.press("Control+o");
  await app.id("file-path").fill(file);
  await page.keyboard.press("Enter");
  await expect(app.id("conflict")).toBeVisible();
  await expect(app.id("conflict-use")).toBeDisabled();
  await app.picture("conflict", ["light", "dark"]);
  await app.id("conflict-ours-node:greet").click();
  await app.id("conflict-theirs-node:remark").click();
  await app.id("conflict-use").click();
  await expect(app.node("greet")).toContainText("Ours");
  // Undo leads back to the choice.
  await app.id("undo").click();
  await expect(app.id("conflict")).toBeVisible();
  await app.id("redo").click();
  await page.keyboard.press("Control+s");
  await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
  const saved = JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof graph>;
  expect([saved.nodes.greet.title, saved.nodes.remark.config.text]).toEqual(["Ours", "Theirs, too"]);
});

test("what another program wrote to the file is merged when the graph is saved, and asked where both changed the same", async ({ app, page }) => {
  const file = app.write("graphs/desk/graph.json", main);
  const outside = (change: (made: ReturnType<typeof graph>) => void) => {
    const made = JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof graph>;
    change(made);
    writeFileSync(file, JSON.stringify(made, null, 2));
  };
  const inFile = () => JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof graph>;
  await app.open();
  await app.openFile(file);
  await app.node("greet").click();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toBeVisible();
  await expect(app.id("save-state")).toHaveText("Unsaved changes");
  outside((made) => (made.nodes.remark.config.text = "From outside"));
  await page.keyboard.press("Control+s");
  await expect(page.getByText("Saved, with the changes of another program")).toBeVisible();
  await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
  expect(inFile().nodes.remark.config.text).toBe("From outside");
  expect(inFile().nodes.greet).toHaveProperty("disabled");
  // Undo takes their changes out again, and redo brings them back.
  await page.keyboard.press("Control+z");
  await expect(app.node("remark")).not.toContainText("From outside");
  await page.keyboard.press("Control+Shift+z");
  await expect(app.node("remark")).toContainText("From outside");
  // The same node here and there.
  await app.node("greet").click();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toHaveCount(0);
  await expect(app.id("save-state")).toHaveText("Unsaved changes");
  outside((made) => (made.nodes.greet.title = "Theirs"));
  await page.keyboard.press("Control+s");
  await expect(app.id("conflict")).toContainText("File changed by another program");
  await app.picture("conflict-disk", ["light", "dark"]);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("conflict-disk-small", ["light", "dark"]);
  await page.setViewportSize({ width: 1440, height: 900 });
  await app.id("conflict-later").click();
  await expect(app.node("greet")).toBeVisible();
  await page.keyboard.press("Control+s");
  await app.id("conflict-theirs-node:greet").click();
  await app.id("conflict-use").click();
  await expect(app.node("greet")).toContainText("Theirs");
  await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
  expect(inFile().nodes.greet).toMatchObject({ title: "Theirs", disabled: { way: "shout" } });
  // What is edited here while the question is open counts.
  await app.node("greet").click();
  await page.keyboard.press("d");
  await expect(app.id("disabled")).toHaveCount(0);
  // Edits that are still on their way when a file is read again are joined with it, field by field.
  await expect(app.id("save-state")).toHaveText("Unsaved changes");
  outside((made) => (made.nodes.greet.title = "Theirs again"));
  await page.keyboard.press("Control+s");
  await page.getByRole("textbox", { name: "Title" }).fill("Mine, later");
  await expect(app.id("conflict")).toContainText("Mine, later");
  await app.id("conflict-ours-node:greet").click();
  await app.id("conflict-use").click();
  await expect(app.id("save-state")).not.toHaveAttribute("data-dirty");
  expect(inFile().nodes.greet.title).toBe("Mine, later");
});

test("several nodes: alignment and what leads to them by keys, paste with incoming edges, favourites", async ({ app, page }) => {
  await app.openGraph(main);
  await page.evaluate(() => document.querySelector<HTMLElement>("[data-canvas]")?.focus());
  await app.node("shout").click();
  await page.keyboard.press("Alt+Shift+U");
  await expect(app.id("inspector")).toContainText("3 nodes");
  await page.keyboard.press("Alt+Shift+ArrowDown");
  await expect(app.id("undo")).toBeEnabled();
  await app.id("undo").click();
  await page.keyboard.press("Escape");
  await app.node("shout").click();
  await page.keyboard.press("Control+c");
  await page.keyboard.press("Control+Shift+V");
  await expect(app.node("shout_2")).toBeVisible();
  await expect(app.id("edge-greet->shout_2")).toBeAttached();
  await app.id("palette-kind-code").hover();
  await app.id("favourite-code").click();
  await expect(app.id("palette").locator("section").first()).toContainText("Favourites");
  await page.reload();
  await expect(app.id("palette").locator("section").first()).toContainText("Code");
});
