/**
 * Measures the debugger in Chromium on a made thread and prints one JSON object a line: bench, workload, params, value,
 * unit, limit, ratio. The limit of scrolling is an empty list of the same length in the same place, in the same run; that
 * of a held key and of a wide step is a frame of a display of 60 Hz; that of a step that streams is the same window at
 * rest. It prints figures and never fails on them.
 *
 *   node tests/e2e/bench-debugger.mjs [--dist ui/dist] [--checkpoints 10000] [--forks 500] [--spans 10000] [--rounds 3]
 *
 * Needs a built interface (`npm run build` in ui/) and Chromium (CHROMIUM, /usr/bin/chromium when unset).
 */
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(join(root, "ui/package.json"));
const { chromium } = require("playwright-core");

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

const dist = resolve(root, option("dist", "ui/dist"));
const rounds = Number(option("rounds", "3"));
const sizes = Object.fromEntries(
  [
    ["checkpoints", "10000"],
    ["forks", "500"],
    ["spans", "10000"],
  ].map(([name, otherwise]) => [name, Number(option(name, otherwise))]),
);
/** A frame of a display of 60 Hz. */
const FRAME = 1000 / 60;

if (!existsSync(join(dist, "index.html"))) {
  console.error(`No built interface in ${dist}. Run \`npm run build\` in ui/ first.`);
  process.exit(2);
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2" };

const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname).replace(/^(\.\.[/\\])+/, "");
  let file = join(dist, path);
  if (!file.startsWith(dist) || !existsSync(file) || statSync(file).isDirectory()) file = join(dist, "index.html");
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Each measurement in a page of its own, several times; the median of each figure. */
async function measure(name) {
  const all = [];
  for (let round = 0; round < rounds; round += 1) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    try {
      await page.goto(`${base}/?bench=debugger&${new URLSearchParams(sizes)}`);
      await page.waitForFunction(() => window.superstepDebuggerBench !== undefined, null, { timeout: 60_000 });
      all.push(await page.evaluate((what) => window.superstepDebuggerBench(what), name));
    } finally {
      await page.close();
    }
  }
  return Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((each) => each[key]))]));
}

const round = (value) => Math.round(value * 100) / 100;

function print(workload, params, value, unit, limit) {
  const ratio = limit ? round(value / limit) : null;
  console.log(JSON.stringify({ bench: "debugger", workload, params, value: round(value), unit, limit: limit ? round(limit) : null, ratio }));
}

try {
  for (const [what, params] of [
    ["trace", { spans: sizes.spans }],
    ["fork map", { checkpoints: sizes.checkpoints, forks: sizes.forks }],
  ]) {
    const ours = await measure(`${what} scroll`);
    const empty = await measure(`${what} empty`);
    for (const key of ["p50", "p95", "max"]) print(`${what} scroll ${key}`, params, ours[key], "ms/frame", empty[key]);
  }
  for (const where of ["timeline", "fork map"]) {
    const held = await measure(`held key in ${where}`);
    const params = { checkpoints: sizes.checkpoints };
    for (const key of ["p50", "p95", "max"]) print(`held key in ${where} ${key}`, params, held[key], "ms/frame", FRAME);
    print(`held key in ${where}, snapshots at once`, params, held.atOnce, "requests", null);
  }
  const wide = await measure("200 parallel tasks");
  for (const key of ["p50", "p95", "max"]) print(`run of 200 parallel tasks ${key}`, { tasks: 200 }, wide[key], "ms/frame", FRAME);
  print("run of 200 parallel tasks, frames over 50 ms", { tasks: 200 }, wide.over50, "frames", null);
  const streaming = await measure("200 streaming tasks");
  for (const [key, still] of [
    ["p50", "restP50"],
    ["p95", "restP95"],
    ["max", "restMax"],
  ])
    print(`200 tasks that stream ${key}`, { pieces: 50 }, streaming[key], "ms/frame", streaming[still]);
} finally {
  await browser.close();
  server.close();
}
