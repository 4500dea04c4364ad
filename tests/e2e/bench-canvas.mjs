/**
 * Measures the canvas in Chromium on synthetic graphs of 500, 2,000 and 10,000 nodes and prints one JSON object a line:
 * bench, workload, params, value, unit, limit, ratio. The limit is plain React Flow with every node mounted, on the same
 * graph and in the same run; there is none for 10,000, which it does not survive.
 *
 *   node tests/e2e/bench-canvas.mjs [--dist ui/dist] [--sizes 500,2000,10000] [--rounds 3]
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
const sizes = option("sizes", "500,2000,10000").split(",").map(Number);
const rounds = Number(option("rounds", "3"));
/** Plain React Flow is measured up to here. */
const PLAIN_MAX = 2000;

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
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

async function once(query) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  try {
    await page.goto(`${base}/?${query}`);
    await page.waitForFunction(() => window.superstepBench !== undefined, null, { timeout: 60_000 });
    return await page.evaluate(() => window.superstepBench());
  } finally {
    await page.close();
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(query) {
  const all = [];
  for (let round = 0; round < rounds; round += 1) all.push(await once(query));
  return Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((each) => each[key]))]));
}

const WORKLOADS = [
  ["first paint", "firstPaint", "ms"],
  ["pan p50", "panP50", "ms/frame"],
  ["pan p95", "panP95", "ms/frame"],
  ["drag p95", "dragP95", "ms/frame"],
  ["fit", "fit", "ms"],
  ["mounted after pan", "mounted", "nodes"],
];

const round = (value) => Math.round(value * 100) / 100;

try {
  for (const nodes of sizes) {
    const ours = await measure(`bench=${nodes}`);
    const plain = nodes <= PLAIN_MAX ? await measure(`bench=${nodes}&plain`) : null;
    for (const [workload, key, unit] of WORKLOADS) {
      const value = round(ours[key]);
      const limit = plain === null ? null : round(plain[key]);
      const ratio = limit ? round(value / limit) : null;
      console.log(JSON.stringify({ bench: "canvas", workload, params: { nodes }, value, unit, limit, ratio }));
    }
  }
} finally {
  await browser.close();
  server.close();
}
