/** The structure of a graph: pictures of it, parts of it as graphs of their own, notes and frames. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "./superstep";

const graph = {
  format: "superstep/1",
  name: "Refund <desk> & co",
  state: {
    request: { type: "string" },
    category: { type: "string", enum: ["refund", "other"] },
    draft: { type: "string" },
    answer: { type: "string" },
  },
  nodes: {
    read: { kind: "assign", config: { set: { request: "state.request|trim" } } },
    classify: {
      kind: "router",
      config: { ways: [{ label: "refund", when: "'refund' in state.request" }], otherwise: "other", into: "category" },
    },
    write: { kind: "assign", config: { set: { draft: "'Dear ' ~ state.request" } } },
    polish: { kind: "assign", config: { set: { answer: "state.draft ~ '!'" } } },
    check: { kind: "code", config: { source: "return { answer: state.answer.toUpperCase() };" } },
    remark: { kind: "note", config: { text: "Refunds only" } },
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "classify" },
    { from: "classify", route: "state.category", paths: { refund: "write", other: "__end__" } },
    { from: "write", to: "polish" },
    { from: "polish", to: "check" },
    { from: "check", to: "read", when: "state.answer == ''" },
    { from: "check", to: "__end__", when: "state.answer != ''" },
  ],
  layout: {
    __start__: [0, 60], read: [140, 40], classify: [420, 20], write: [720, 20], polish: [1000, 20], check: [1280, 20],
    __end__: [1660, 160], remark: [420, -120],
  },
  examples: [{ name: "one", input: { request: "refund please" } }],
};

test("the graph as a picture: SVG, PNG and the clipboard, light and dark, with the marks of the run", async ({ app, page }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await app.openGraph(graph);
  await app.command("export");
  await expect(app.id("picture-preview")).toBeVisible();
  await expect(app.id("picture-marks")).toHaveCount(0);
  await app.picture("export-picture", ["light", "dark"]);

  const save = async (form: string) => {
    const downloading = page.waitForEvent("download");
    await app.id(`picture-save-${form}`).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`Refund desk & co.${form}`);
    const file = join(process.env.SUPERSTEP_SHOTS ?? test.info().outputDir, `drawn.${form}`);
    await download.saveAs(file);
    return readFileSync(file);
  };
  const svg = (await save("svg")).toString();
  for (const word of ["Refund &lt;desk&gt; &amp; co", ">classify<", ">refund<", "state.answer == &apos;&apos;"])
    expect(svg).toContain(word);
  expect(svg).not.toContain("var(");
  expect(svg).not.toContain("oklch");
  const sizes = await page.evaluate(async (text) => {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    await image.decode();
    return { width: image.width, height: image.height };
  }, svg);
  const png = await save("png");
  expect(png.readUInt32BE(16)).toBe(sizes.width * 2);
  expect(png.readUInt32BE(20)).toBe(sizes.height * 2);

  const background = (text: string) => /<rect [^>]*fill="(#[0-9a-f]{6})"/.exec(text)?.[1];
  await app.id("export").getByRole("tab", { name: "Dark" }).click();
  const dark = (await save("svg")).toString();
  expect(background(dark)).not.toBe(background(svg));
  expect(await app.page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
  await app.picture("export-picture-dark-theme");

  await app.id("picture-copy").click();
  await expect(app.id("toast").filter({ hasText: "Picture copied" })).toBeVisible();
  const copied = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const blob = await item!.getType("image/png");
    const bitmap = await createImageBitmap(blob);
    return { width: bitmap.width, height: bitmap.height };
  });
  expect(copied).toEqual({ width: sizes.width * 2, height: sizes.height * 2 });
  await page.keyboard.press("Escape");
  await expect(app.id("export")).toHaveCount(0);
});

test("selected nodes become a graph of their own, run there, and come back", async ({ app, page }) => {
  const file = await app.openGraph(graph);
  await app.node("write").click();
  await app.node("polish").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+g");
  await expect(app.id("extract")).toBeVisible();
  await expect(app.id("extract-given-request")).toBeChecked();
  await expect(app.id("extract-given-category")).not.toBeChecked();
  await expect(app.id("extract-taken-answer")).toBeChecked();
  await app.id("extract-name").fill("compose");
  await expect(app.id("extract-file")).toHaveValue("compose.json");
  await app.picture("extract", ["light", "dark"]);
  await app.id("extract-file").press("Enter");
  await expect(app.node("compose")).toBeVisible();
  await expect(app.node("write")).toHaveCount(0);
  await expect(app.id("toast")).toContainText("compose.json written");
  const inner = JSON.parse(readFileSync(join(dirname(file), "compose.json"), "utf8"));
  expect(inner.input).toEqual(["request", "draft"]);
  expect(inner.output).toEqual(["draft", "answer"]);
  expect(Object.keys(inner.nodes)).toEqual(["write", "polish"]);
  expect(inner.edges).toEqual([
    { from: "__start__", to: "write" },
    { from: "write", to: "polish" },
    { from: "polish", to: "__end__" },
  ]);
  await page.getByText("Problems", { exact: true }).click();
  await expect(page.getByText("No problems")).toBeVisible();
  await app.picture("extracted", ["light"]);

  // The run goes through the new graph and comes to the same answer; its marks are in the picture when they are wanted.
  await app.id("run-with-input").click();
  await app.id("run-form").getByLabel("request").fill("refund please");
  await app.id("run-start").click();
  await app.status("done");
  await expect(page.getByText("DEAR REFUND PLEASE!").first()).toBeVisible();
  await app.command("export");
  await expect(app.id("picture-marks")).toBeChecked();
  await expect(app.id("picture-preview")).toBeVisible();
  await app.picture("export-marks");
  const svg = async () => {
    const downloading = page.waitForEvent("download");
    await app.id("picture-save-svg").click();
    return readFileSync(await (await downloading).path(), "utf8");
  };
  expect(await svg()).toContain("state-done");
  await app.id("picture-marks").click();
  expect(await svg()).not.toContain("state-done");
  await page.keyboard.press("Escape");
  await app.id("use-design").click();

  // The file that is there now is not written over.
  await page.keyboard.press("Control+z");
  await expect(app.node("write")).toBeVisible();
  await expect(app.node("compose")).toHaveCount(0);
  await app.node("polish").click();
  await page.keyboard.press("Control+g");
  await app.id("extract-name").fill("compose");
  await app.id("extract-name").press("Enter");
  await expect(app.id("extract").getByRole("alert")).toContainText("compose.json");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+z");
  await expect(app.node("compose")).toBeVisible();

  await app.node("compose").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Replace with its contents" }).click();
  await expect(app.node("compose")).toHaveCount(0);
  await expect(app.node("write")).toHaveAttribute("data-selected", "true");
  await expect(app.id("edge-classify->?|=refund")).toHaveCount(1);
  await page.keyboard.press("Control+z");
  await expect(app.node("compose")).toBeVisible();
});

test("what cannot be one node says why", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.node("remark").click();
  await page.keyboard.press("Control+g");
  await expect(app.id("toast")).toContainText("These nodes cannot become one node.");
  await app.node("classify").click();
  await app.node("polish").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+g");
  await expect(app.id("toast").filter({ hasText: "Different edges lead to “classify”, “polish”." })).toBeVisible();
});

test("notes have colours and sizes; a frame moves what lies in it", async ({ app, page }) => {
  await app.openGraph({ ...graph, layout: { ...graph.layout, remark: [140, -120] } });
  // A colour by name, from the menu.
  await app.node("remark").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Blue" }).or(page.getByRole("menuitemcheckbox", { name: "Blue" })).click();
  await expect(app.node("remark")).toHaveAttribute("data-colour", "blue");
  await expect(app.node("remark")).toHaveAttribute("aria-label", /Note, Blue/);

  // The corner changes the size, one step of undo.
  const box = async (name: string) => (await app.node(name).boundingBox())!;
  const before = await box("remark");
  const corner = (await app.id("note-resize-remark").boundingBox())!;
  await page.mouse.move(corner.x + 6, corner.y + 6);
  await page.mouse.down();
  await page.mouse.move(corner.x + 40, corner.y + 20, { steps: 4 });
  await page.mouse.move(corner.x + 66, corner.y + 46, { steps: 4 });
  await page.mouse.up();
  const after = await box("remark");
  expect(after.width - before.width).toBeGreaterThan(50);
  expect(after.height - before.height).toBeGreaterThan(30);
  await page.keyboard.press("Control+z");
  expect((await box("remark")).width).toBeCloseTo(before.width, 0);
  await page.keyboard.press("Control+Shift+z");
  expect((await box("remark")).width).toBeCloseTo(after.width, 0);

  // A frame around two nodes, named at once.
  await app.node("write").click();
  await app.node("polish").click({ modifiers: ["Shift"] });
  await app.picture("many", ["light", "dark"]);
  await page.getByRole("button", { name: "Frame nodes" }).click();
  await page.keyboard.type("Answer");
  await page.keyboard.press("Enter");
  await expect(app.node("Answer")).toHaveAttribute("data-frame", "true");
  const begin = { write: await box("write"), polish: await box("polish"), check: await box("check"), frame: await box("Answer") };
  const grip = (await app.id("note-grip-Answer").boundingBox())!;
  await page.mouse.move(grip.x + 150, grip.y + 8);
  await page.mouse.down();
  await page.mouse.move(grip.x + 160, grip.y + 40, { steps: 3 });
  await page.mouse.move(grip.x + 150, grip.y + 128, { steps: 5 });
  await page.mouse.up();
  for (const name of ["write", "polish"] as const)
    expect((await box(name)).y - begin[name].y).toBeGreaterThan(100);
  expect((await box("Answer")).y - begin.frame.y).toBeGreaterThan(100);
  expect((await box("check")).y).toBeCloseTo(begin.check.y, 0);
  // It is no node that a wire could take in.
  await expect(page.locator(".line[data-failed]")).toHaveCount(0);
  await app.picture("frame", ["light", "dark"]);
  await page.keyboard.press("Control+z");
  for (const name of ["write", "polish"] as const) expect((await box(name)).y).toBeCloseTo(begin[name].y, 0);

  // A node in a frame is reached as ever, and the frame goes through to the canvas.
  await app.node("write").click();
  await expect(app.node("write")).toHaveAttribute("data-selected", "true");
  await expect(app.node("Answer")).not.toHaveAttribute("data-selected", "true");
  await page.setViewportSize({ width: 1024, height: 700 });
  await app.picture("frame-small");
});

test("a disabled node is passed by, and a disabled router goes the way that was chosen", async ({ app, page }) => {
  await app.openGraph({
    ...graph,
    edges: graph.edges.filter((edge) => edge.from !== "check").concat([{ from: "check", to: "__end__" }]),
  });
  await app.node("check").click();
  await page.keyboard.press("d");
  await expect(app.node("check").getByTestId("disabled")).toHaveText("Disabled");
  await expect(app.id("disabled-notice")).toBeVisible();
  await expect(app.id("disabled-way")).toHaveCount(0);

  await app.node("classify").click({ button: "right" });
  await page.getByRole("menuitem", { name: /^Disable/ }).click();
  await expect(app.id("disabled-notice")).toContainText("where its run goes on is not chosen");
  await app.id("disabled-way").click();
  await expect(page.getByRole("option", { name: "other" })).toBeVisible();
  await app.picture("disabled-choice");
  await page.getByRole("option", { name: "refund" }).click();
  await app.id("canvas").click({ position: { x: 300, y: 700 } });
  await app.picture("disabled-near", ["light", "dark"]);

  for (const name of ["far", "middle"]) {
    await page.keyboard.press("Control+1");
    for (let times = 0; times < (name === "far" ? 8 : 1); times += 1) await page.keyboard.press("Control+-");
    await app.picture(`disabled-${name}`, ["light", "dark"]);
  }
  await page.keyboard.press("Control+1");

  await app.id("run-with-input").click();
  await app.id("run-form").getByLabel("request").fill("refund please");
  await app.id("run-start").click();
  await app.status("done");
  await expect(app.id("disabled-run")).toHaveText("2 nodes disabled: classify, check");
  await app.showState();
  await expect(app.key("answer")).toContainText("Dear refund please!");
  await expect(app.key("category")).not.toContainText("refund");
  await app.picture("disabled-run", ["light", "dark"]);
});
