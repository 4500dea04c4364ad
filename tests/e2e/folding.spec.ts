/** Frames that fold to one card: what is drawn, moved, run and found then, and that unfolding puts everything back. */
import { readFileSync } from "node:fs";
import { expect, test } from "./superstep";

const assign = (key: string, value: string) => ({ kind: "assign", config: { set: { [key]: value } } });
const graph = {
  format: "superstep/1",
  name: "Folding",
  state: { request: { type: "string" }, draft: { type: "string" }, answer: { type: "string" } },
  nodes: {
    Compose: { kind: "note", config: { text: "", frame: true, color: "blue", width: 820, height: 320 } },
    read: assign("request", "state.request|trim"),
    write: assign("draft", "'Dear ' ~ state.request"),
    polish: assign("draft", "state.draft ~ '!'"),
    approve: { kind: "ask", config: { question: "Send it?", into: "answer" } },
    send: assign("answer", "state.draft"),
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "write" },
    { from: "write", to: "polish" },
    { from: "polish", to: "approve" },
    { from: "polish", to: "send", when: "state.draft == ''" },
    { from: "approve", to: "send" },
    { from: "send", to: "__end__" },
  ],
  layout: {
    __start__: [0, 60], read: [140, 40], Compose: [420, -40], write: [440, 40], polish: [720, 40], approve: [980, 140],
    send: [1320, 60], __end__: [1620, 80],
  },
  examples: [{ name: "one", input: { request: "sir" } }],
};

test("a frame folds to one card, is moved and arranged as one, and comes back as it was", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  const layout = async () => {
    const { graphId } = await app.rpc<{ graphId: string }>("graph.open", { path: file });
    const { json } = await app.rpc<{ json: string }>("graph.export", { graphId });
    return (JSON.parse(json) as { layout: Record<string, [number, number]> }).layout;
  };
  const from = ([x = 0, y = 0]: number[] = [], [a = 0, b = 0]: number[] = []) => [x - a, y - b];
  await app.picture("frame-open", ["light", "dark"]);
  await app.id("fold-Compose").click();
  await expect(app.node("Compose")).toHaveAttribute("data-folded", "true");
  await expect(app.node("Compose")).toContainText("3 nodes, folded");
  for (const name of ["write", "polish", "approve"]) await expect(app.node(name)).toHaveCount(0);
  await expect(app.node("read")).toBeVisible();
  await expect(app.id("edge-write->polish")).toHaveCount(0);
  await expect(app.id("edge-read->write")).toHaveCount(1);
  // Two edges to one node are one line.
  await expect(app.id("merged-approve->send")).toHaveText("2 edges");
  await app.picture("frame-folded", ["light", "dark"]);

  // It is dragged as a card, with what is in it; one step of undo.
  const before = await layout();
  const box = (await app.node("Compose").boundingBox())!;
  await page.mouse.move(box.x + 60, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 120, box.y + 100, { steps: 6 });
  await page.mouse.up();
  await expect.poll(async () => (await layout())["Compose"]).not.toEqual(before["Compose"]);
  const after = await layout();
  expect(from(after["write"], after["Compose"])).toEqual(from(before["write"], before["Compose"]));
  expect(after["read"]).toEqual(before["read"]);
  await page.keyboard.press("Control+z");
  await expect.poll(layout).toEqual(before);

  // Arranged it is one node; what is in it stands to it as before.
  await page.keyboard.press("Control+Shift+l");
  await expect.poll(layout).not.toEqual(before);
  const arranged = await layout();
  expect(from(arranged["approve"], arranged["Compose"])).toEqual(from(before["approve"], before["Compose"]));
  await app.picture("frame-arranged", ["light"]);
  await page.keyboard.press("Control+z");
  await expect.poll(layout).toEqual(before);

  // Kept in the browser, not in the file; the key unfolds it, and what is looked for unfolds it too.
  expect(readFileSync(file, "utf8")).not.toContain("fold");
  await page.reload();
  await expect(app.node("Compose")).toHaveAttribute("data-folded", "true");
  await app.node("Compose").click();
  await page.keyboard.press("f");
  await expect(app.node("write")).toBeVisible();
  await expect(app.id("edge-write->polish")).toHaveCount(1);
  await page.keyboard.press("f");
  await expect(app.node("write")).toHaveCount(0);
  await app.goTo("polish");
  await expect(app.node("polish")).toHaveAttribute("data-selected", "true");
  await expect(app.node("Compose")).not.toHaveAttribute("data-folded", "true");
  expect((await layout())["polish"]).toEqual(graph.layout.polish);
});

test("a folded frame says what happens in it while a graph runs", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("fold-Compose").click();
  await app.id("use-debug").click();
  await app.id("run").click();
  await expect(app.node("Compose")).toHaveAttribute("data-state", "asking");
  await expect(app.node("read")).toHaveAttribute("data-state", "done");
  await app.picture("frame-asking", ["light", "dark"]);
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("frame-asking-small", ["light"]);
});
