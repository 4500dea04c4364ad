/**
 * Measures the canvas in Chromium with real gestures and prints one JSON object a line: bench, workload, params, value, unit,
 * limit, ratio. The limit is the target of the workload for 10,000 nodes, whatever the size; "beside React Flow" has plain
 * React Flow with every node mounted as its limit, on the same graph and in the same run, up to the size that it survives.
 * Ours is the app as it is, served by the program: its panels, checks and undo are part of what is measured. It prints
 * figures and never fails on them.
 *
 *   node tests/e2e/bench-canvas.mjs [--dist ui/dist] [--program target/release/superstep] [--sizes 500,2000,10000,100000] [--rounds 3]
 *
 * Needs a built interface (`npm run build` in ui/), a built program and Chromium (CHROMIUM, /usr/bin/chromium when unset).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { dense, grid } from "./bench-graphs.mjs";
import { Hand, percentile } from "./bench-meter.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(join(root, "ui/package.json"));
const { chromium } = require("playwright-core");

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

const dist = resolve(root, option("dist", "ui/dist"));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const program = resolve(root, option("program", join(target, "release/superstep")));
const sizes = option("sizes", "500,2000,10000,100000").split(",").map(Number);
/** How often the start and the first paint are measured, each in a page of its own. */
const rounds = Number(option("rounds", "3"));
/** Plain React Flow is measured up to here, and all but opening and panning of ours. */
const PLAIN_MAX = 2000;
const ALL_MAX = 10_000;

for (const [file, how] of [
  [join(dist, "index.html"), "`npm run build` in ui/"],
  [program, "`cargo build --release -p superstep-cli`"],
])
  if (!existsSync(file)) {
    console.error(`${file} is not there. Run ${how} first.`);
    process.exit(2);
  }

const round = (value) => Math.round(value * 100) / 100;

function print(workload, params, value, unit, limit) {
  const ratio = limit ? round(value / limit) : null;
  console.log(JSON.stringify({ bench: "canvas", workload, params, value: round(value), unit, limit: limit ?? null, ratio }));
}

const data = mkdtempSync(join(tmpdir(), "superstep-bench-"));
const started = [];

/** Starts the program; answers its address, and when it was asked for. */
async function serve() {
  const begun = performance.now();
  const child = spawn(program, ["serve", "--port", "0", "--data", data, "--ui", dist, "--examples", join(root, "graphs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  const server = {
    begun,
    url: "",
    async stop() {
      child.kill("SIGINT");
      await ended;
    },
  };
  started.push(server);
  server.url = await new Promise((found, failed) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk.toString();
      const address = /http:\/\/\S+/.exec(text);
      if (address) found(address[0]);
    });
    ended.then((code) => failed(new Error(`the program ended with ${code}: ${text}`)));
  });
  return server;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

async function onPage(work) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await work(page, await Hand.on(page));
  } finally {
    await page.close();
  }
}

const id = (testId) => `[data-testid="${testId}"]`;
const CARDS = ".react-flow__node [data-testid^=node-]";
const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
const p95 = (values) => percentile(values, 0.95);

/** What both canvases can do, on the same places of the screen. */
async function gestures(page, hand, { node }) {
  const middle = { x: 720, y: 450 };
  const found = {};
  await page.waitForTimeout(500);
  const pan = await hand.frames(() => hand.wheel(middle, 60, { dx: 24, dy: 8 }));
  found["pan p50"] = [percentile(pan, 0.5), "ms/frame"];
  found["pan p95"] = [p95(pan), "ms/frame", 33];
  found["mounted after pan"] = [await page.locator(".react-flow__node").count(), "nodes"];
  await hand.wheel(middle, 60, { dx: -24, dy: -8 });
  await page.waitForTimeout(300);
  const drag = await hand.frames(async () => hand.drag(await hand.centre(node(1)), 50, { dx: 3, dy: 1 }));
  found["drag p95"] = [p95(drag), "ms/frame", 50];
  const selects = [];
  for (const index of [1, 0, 1, 0, 1, 0]) {
    const at = await hand.centre(node(index));
    const select = await hand.events(() => page.mouse.click(at.x, at.y));
    selects.push(Math.max(...["pointerdown", "pointerup", "click"].flatMap((type) => select.of(type).map(({ paint }) => paint))));
  }
  found["select, event to paint, longest"] = [Math.max(...selects), "ms", 50];
  await page.keyboard.press("Escape");
  // From cards to blocks and back: through all three drawings, twice.
  const zoom = await hand.frames(async () => {
    for (const dy of [60, -60, 60, -60]) await hand.wheel(middle, 24, { dy, ctrl: true });
  });
  found["zoom across the drawings, p95"] = [p95(zoom), "ms/frame"];
  found["zoom across the drawings, longest frame"] = [Math.max(...zoom), "ms", 100];
  return found;
}

/** The canvas alone, from records in the page. */
async function firstPaint(base, nodes, plain) {
  const times = [];
  for (let repeat = 0; repeat < rounds; repeat += 1)
    await onPage(async (page) => {
      await page.goto(`${base}/?bench=${nodes}${plain ? "&plain" : ""}`);
      await page.waitForFunction(() => window.superstepFirstPaint !== undefined, null, { timeout: 120_000 });
      times.push(await page.evaluate(() => window.superstepFirstPaint));
    });
  return percentile(times, 0.5);
}

async function plainFlow(base, nodes) {
  let found = {};
  await onPage(async (page, hand) => {
    await page.goto(`${base}/?bench=${nodes}&plain`);
    await page.waitForFunction(() => window.superstepFirstPaint !== undefined, null, { timeout: 120_000 });
    found = await gestures(page, hand, { node: (index) => id(`node-name-n${index}`) });
  });
  return found;
}

function write(graph) {
  const folder = join(data, "graphs", graph.name.replaceAll(" ", "-"));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "graph.json");
  writeFileSync(file, JSON.stringify(graph));
  return file;
}

/** Opens a graph's file with the dialog; answers how long it took until its cards were on the screen. */
async function openFile(page, graph) {
  return openPath(page, write(graph), graph.name);
}

async function openPath(page, file, name) {
  await page.keyboard.press("Control+o");
  await page.locator(id("file-path")).fill(file);
  const begun = performance.now();
  await page.keyboard.press("Enter");
  // Those of the graph that was open before are there until then.
  await page.locator(id("graph-name")).filter({ hasText: name }).waitFor({ timeout: 180_000 });
  await page.waitForSelector(`${CARDS}, ${id("canvas-overview")}`, { timeout: 180_000 });
  await painted(page);
  return performance.now() - begun;
}

/** Opens the app: its start screen, or the graph that the server has open since the size before. */
async function openApp(page, url) {
  await page.goto(url);
  await page.waitForSelector(`${id("start-screen")}, ${CARDS}, ${id("canvas-overview")}`);
}

/** Openings of a file, for the first time and again after another program changed it, each in a page with a small graph. */
async function openChanged(url, nodes) {
  const [first, again] = [[], []];
  // The first round opens the app with its start screen.
  for (let repeat = 0; repeat <= rounds; repeat += 1) {
    const graph = { ...grid(nodes), name: `First of ${nodes}, ${repeat}` };
    const file = write(graph);
    for (const [times, name] of [
      [first, graph.name],
      [again, `Again of ${nodes}, ${repeat}`],
    ]) {
      if (times === again) writeFileSync(file, JSON.stringify({ ...graph, name, nodes: { ...graph.nodes, last: graph.nodes.n1 } }));
      await onPage(async (page) => {
        await openApp(page, url);
        await openFile(page, { ...grid(20), name: "Small" });
        await page.waitForTimeout(1_000);
        const took = await openPath(page, file, name);
        if (repeat > 0) times.push(took);
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+w");
        await page.locator(id("graph-name")).filter({ hasText: "Small" }).waitFor();
      });
    }
  }
  const limit = percentile(first, 0.5) * 1.1;
  print("open a file that changed outside, beside 1.1 times the first opening", { nodes }, percentile(again, 0.5), "ms", round(limit));
}

/** From the program's start to a graph on the canvas, in a browser that runs. */
async function start() {
  const [screens, canvases] = [[], []];
  for (let repeat = 0; repeat <= rounds; repeat += 1) {
    const server = await serve();
    await onPage(async (page) => {
      await openApp(page, server.url);
      await page.waitForSelector(id("example-refund-desk"));
      await painted(page);
      screens.push(performance.now() - server.begun);
      const asked = performance.now();
      await page.locator(id("example-refund-desk")).click();
      await page.waitForSelector(CARDS);
      await painted(page);
      canvases.push(screens.at(-1) + performance.now() - asked);
    });
    await server.stop();
  }
  // The first one warms up the files.
  print("start to the start screen", {}, percentile(screens.slice(1), 0.5), "ms", 1000);
  print("start to an example on the canvas", {}, percentile(canvases.slice(1), 0.5), "ms", 1000);
}

/** Keys in a field: the handlers of each, and until it was painted. */
async function typing(page, hand, where, params) {
  const text = "the quick brown fox jumps";
  const typed = await hand.events(() => hand.type(text));
  const [keys, inputs] = [typed.of("keydown"), typed.of("input")];
  const handlers = keys.map((key) => {
    const input = inputs.find(({ at }) => at >= key.at && at - key.at < 30);
    return key.handlers + (input?.handlers ?? 0);
  });
  print(`typing in ${where}, handlers p95`, params, p95(handlers), "ms", 16);
  print(`typing in ${where}, event to paint p95`, params, p95([...keys, ...inputs].map(({ paint }) => paint)), "ms", 50);
}

/** What only the app can do. */
async function editing(page, hand, params) {
  await page.locator(id("node-name-n2")).click();
  await page.waitForSelector(`${id("inspector-config")} .cm-content`);
  const prompt = page.locator('[data-pointer="/config/prompt"] .cm-content');
  await prompt.click();
  await page.keyboard.press("Control+End");
  await typing(page, hand, "the inspector", params);
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(`${id("large-editor")} .cm-content`);
  await page.keyboard.press("Control+End");
  await typing(page, hand, "a large editor", params);
  await page.keyboard.press("Escape");
  await page.locator(id("canvas")).focus();
  await page.keyboard.press("Escape");
  await page.waitForTimeout(300);

  const opened = await hand.events(() => page.locator(id("tab-outline")).click());
  const rows = await page.locator(`${id("outline")} [role=treeitem]`).count();
  const shown = Math.max(...opened.of("click").map(({ paint }) => paint));
  print("outline, event to paint", { ...params, rows }, shown, "ms", 200);

  // Edits of the canvas, made and taken back. The node that was dragged lies under its neighbour.
  const times = [];
  for (let repeat = 0; repeat < 5; repeat += 1) {
    await page.locator(id("node-name-n3")).click();
    await page.keyboard.press("Shift+ArrowDown");
    await page.waitForTimeout(150);
    const undone = await hand.events(() => page.keyboard.press("Control+z"));
    times.push(Math.max(...undone.of("keydown").map(({ paint }) => paint)));
  }
  print("undo of a move, longest", params, Math.max(...times), "ms", 100);
  await page.keyboard.press("Delete");
  await page.waitForTimeout(300);
  const undone = await hand.events(() => page.keyboard.press("Control+z"));
  print("undo of a deleted node", params, Math.max(...undone.of("keydown").map(({ paint }) => paint)), "ms", 100);
  await page.locator(id("tab-palette")).click();
}

/** The command that arranges, and what the page is like meanwhile. */
async function arranging(page, hand, what, params, limit) {
  let took = 0;
  const frames = await hand.frames(async () => {
    const begun = performance.now();
    await page.locator(id("auto-layout")).click();
    await page.waitForSelector(`${id("undo")}[aria-label*=Arrange]`, { timeout: 180_000 });
    await painted(page);
    took = performance.now() - begun;
  });
  print(`arrange ${what}`, params, took / 1000, "s", limit);
  print(`arrange ${what}, longest frame beside it`, params, Math.max(...frames), "ms", 100);
  const undone = await hand.events(() => page.keyboard.press("Control+z"));
  print(`undo of arrange ${what}`, params, Math.max(...undone.of("keydown").map(({ paint }) => paint)), "ms", 100);
}

try {
  await start();
  const server = await serve();
  const base = new URL(server.url).origin;
  for (const nodes of sizes) {
    const params = { nodes };
    const plain = nodes <= PLAIN_MAX ? await plainFlow(base, nodes) : {};
    if (nodes <= ALL_MAX) {
      const ours = await firstPaint(base, nodes, false);
      print("first paint", params, ours, "ms", 500);
      if (nodes <= PLAIN_MAX) print("first paint beside React Flow", params, ours, "ms", round(await firstPaint(base, nodes, true)));
    }
    await onPage(async (page, hand) => {
      await openApp(page, server.url);
      print("open a file", params, await openFile(page, grid(nodes)), "ms");
      await page.keyboard.press("Escape");
      if (nodes > ALL_MAX) {
        await page.waitForTimeout(1_000);
        const pan = await hand.frames(() => hand.wheel({ x: 720, y: 450 }, 60, { dx: 24, dy: 8 }));
        print("pan p50", params, percentile(pan, 0.5), "ms/frame");
        print("pan p95", params, p95(pan), "ms/frame", 33);
        return;
      }
      const found = await gestures(page, hand, { node: (index) => id(`node-name-n${index}`) });
      for (const [workload, [value, unit, limit]] of Object.entries(found)) {
        print(workload, params, value, unit, limit);
        const other = plain[workload]?.[0];
        if (other !== undefined && unit !== "nodes") print(`${workload} beside React Flow`, params, value, unit, round(other));
      }
      if (nodes === ALL_MAX) {
        await page.reload();
        await page.waitForSelector(CARDS);
        await page.waitForTimeout(500);
        await editing(page, hand, params);
        await arranging(page, hand, "a grid", params, 20);
      }
    });
  }
  for (const nodes of sizes.filter((size) => size <= ALL_MAX)) await openChanged(server.url, nodes);
  await onPage(async (page, hand) => {
    await openApp(page, server.url);
    await openFile(page, dense(500, 3));
    await page.waitForTimeout(500);
    await arranging(page, hand, "a dense graph", { nodes: 500 }, 2);
  });
  await onPage(async (page, hand) => {
    await openApp(page, server.url);
    await openFile(page, dense(10_000, 3));
    await page.waitForTimeout(500);
    await arranging(page, hand, "a dense graph", { nodes: 10_000 }, 20);
  });
} finally {
  await browser.close();
  for (const server of started) await server.stop();
  rmSync(data, { recursive: true, force: true });
}
