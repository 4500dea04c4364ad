/**
 * Random work by four programs on one database, watched by two windows that are compared with the database all the time.
 *
 *   node tests/e2e/trial-windows.mjs [--minutes 60] [--binary target/release/superstep] [--seed 1] [--db sqlite]
 *
 * The programs are the command line: they run threads, answer, edit, fork, prune and delete, and every tenth is killed
 * with SIGKILL. The windows belong to two servers with data folders of their own. What a window shows (threads, their
 * status, the number of questions) is wrong when it has been there for a second, and the database has not held it in that
 * second. Prints what was done and every time that a window was wrong, and fails when there was one. Needs a built interface and
 * Chromium (CHROMIUM, /usr/bin/chromium when unset).
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(join(root, "ui/package.json"));
const { chromium } = require("playwright-core");

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

const minutes = Number(option("minutes", "60"));
const binary = resolve(root, option("binary", "target/release/superstep"));
const seed = Number(option("seed", String(Date.now() % 100_000)));
const folder = mkdtempSync(join(tmpdir(), "superstep-windows-"));
const db = option("db", `sqlite:${join(folder, "threads.db")}`);
/** How old what a window shows may be, and how often the database is read. */
const FRESH = 1000;
const EVERY = 200;
/** How long a program rests between two deeds, on average. */
const PAUSE = 600;
const THREADS = Array.from({ length: 8 }, (_, n) => `thread-${n}`);

/** Numbers that the seed decides: mulberry32. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const graph = {
  format: "superstep/1",
  name: "Random work",
  state: {
    n: { type: "integer", default: 0 },
    wait: { type: "number", default: 0 },
    fail: { type: "boolean", default: false },
    verdict: { type: "string" },
  },
  nodes: {
    count: { kind: "assign", config: { set: { n: "state.n + 1" } } },
    wait: { kind: "delay", config: { seconds: "state.wait" } },
    check: { kind: "assign", config: { set: { n: "1 // 0 if state.fail else state.n" } } },
    review: { kind: "ask", config: { question: "Again?", into: "verdict" } },
  },
  edges: [
    { from: "__start__", to: "count" },
    { from: "count", to: "wait" },
    { from: "wait", to: "check" },
    { from: "check", to: "review" },
    { from: "review", to: "count", when: "state.verdict == 'again'" },
    { from: "review", to: "__end__", when: "state.verdict != 'again'" },
  ],
};
const file = join(folder, "graphs/random/graph.json");
mkdirSync(join(folder, "graphs/random"), { recursive: true });
writeFileSync(file, JSON.stringify(graph));

const counts = new Map();
const count = (what) => counts.set(what, (counts.get(what) ?? 0) + 1);
const children = new Set();

/** Runs the command line; answers its exit code and what it printed. `kill` is when it is killed, in milliseconds. */
function superstep(data, args, kill = 0, onKill = () => {}) {
  return new Promise((done) => {
    const env = { ...process.env, SUPERSTEP_DATA: data, SUPERSTEP_DB: db };
    const child = execFile(binary, args, { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      clearTimeout(timer);
      children.delete(child);
      done({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr });
    });
    children.add(child);
    // It ends now; its output may be held open by what it started, for some seconds on a busy machine.
    const end = () => child.kill("SIGKILL") && onKill();
    const timer = kill > 0 ? setTimeout(end, kill) : undefined;
  });
}

/** One program: one random deed after the other. */
async function work(data, dice, until) {
  const pick = (list) => list[Math.floor(dice() * list.length)];
  const deeds = {
    run: (thread) => {
      const wait = dice() < 0.3 ? dice() * 1.5 : 0;
      return ["run", file, "--thread", thread, "--input", JSON.stringify({ wait, fail: dice() < 0.15 }), "--effects", "again"];
    },
    answer: (thread) => ["resume", thread, "--text", pick(["again", "enough", "enough"])],
    edit: (thread) => ["update", thread, "--values", JSON.stringify({ n: Math.floor(dice() * 100), fail: false })],
    fork: async (thread) => {
      const { code, stdout } = await superstep(data, ["history", thread, "--json"]);
      const past = code === 0 ? stdout.match(/"checkpoint_id": ?"[^"]+"/g) : null;
      const id = past && /: ?"([^"]+)"/.exec(pick(past))?.[1];
      return id ? ["update", thread, "--values", '{"n": 1}', "--checkpoint", id] : null;
    },
    prune: (thread) => ["threads", "prune", thread, "--keep", pick(["latest", "branches", "3"]), "--yes"],
    remove: (thread) => ["delete", thread],
  };
  const names = ["run", "run", "run", "run", "answer", "answer", "answer", "edit", "fork", "prune", "remove"];
  while (Date.now() < until) {
    const name = pick(names);
    const thread = pick(THREADS);
    const args = await deeds[name](thread);
    if (args === null) continue;
    const kill = dice() < 0.1 ? 20 + dice() * 600 : 0;
    const watch = setInterval(() => worked.set(thread, Date.now()), 50);
    const { code, stderr } = await superstep(data, args, kill, () => killed.set(thread, Date.now()));
    clearInterval(watch);
    count(code === "SIGKILL" ? "killed" : name);
    // What stands for less time than a reading takes is not read, so a window that shows it would look wrong.
    await sleep(dice() * 2 * PAUSE);
    if (/panicked|internal/i.test(stderr)) throw new Error(`${args.join(" ")}: ${stderr}`);
  }
}

async function serve(name) {
  const data = join(folder, name);
  const child = spawn(
    binary,
    ["serve", "--port", "0", "--db", db, "--data", data, "--ui", join(root, "ui/dist"), "--examples", join(root, "graphs")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.add(child);
  const url = await new Promise((found, failed) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const address = /http:\/\/\S+/.exec(text);
      if (address) found(address[0]);
    });
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
  });
  return { data, url };
}

/** Stopped and paused threads are one for the list of the command line. */
const STANDS = { running: "running", stopped: "paused", paused: "paused", done: "done", asking: "asking", failed: "failed" };
/** How long a claim of a program that was killed counts, for those with a data folder of their own. */
const CLAIM = 16_000;
/** When a program that worked at a thread was killed last. */
const killed = new Map();
/** When a program worked at a thread last. */
const worked = new Map();

/** What the database holds, as one text for each thread, and the number of questions. */
async function truth(data) {
  const [threads, waiting] = await Promise.all([
    superstep(data, ["threads", "list", "--json", "--limit", "100"]),
    superstep(data, ["threads", "waiting", "--json", "--limit", "1000"]),
  ]);
  if (threads.code !== 0 || waiting.code !== 0) throw new Error(threads.stderr + waiting.stderr);
  const held = new Map(JSON.parse(threads.stdout).map((each) => [each.thread_id, STANDS[each.status]]));
  held.set("questions", String(JSON.parse(waiting.stdout).length));
  return held;
}

/** Every number of questions that the file of SQLite has held, newest last, with when it was first seen. */
const numbers = [];

/**
 * Reads the number of questions all the time: one that stands for less time than `truth` takes was held as well. Nothing
 * for other databases, which are judged by `truth` alone.
 */
function countQuestions() {
  if (!db.startsWith("sqlite:")) return;
  const program = `
import sqlite3, sys, time
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
last = None
while True:
    try:
        number = db.execute("SELECT coalesce(sum(tasks), 0) FROM waiting").fetchone()[0]
    except sqlite3.OperationalError:
        number = last
    if number != last:
        last = number
        print(int(time.time() * 1000), number, flush=True)
    time.sleep(0.01)
`;
  const child = spawn("python3", ["-c", program, db.slice("sqlite:".length)], { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [since, number] = line.split(" ");
    numbers.push({ since: Number(since), number });
    while (numbers.length > 2 && numbers[1].since < Date.now() - 60_000) numbers.shift();
  });
}

/** The numbers of questions that were held since then. */
function numbersSince(then) {
  const first = numbers.findLastIndex((each) => each.since <= then);
  return numbers.slice(Math.max(0, first)).map((each) => each.number);
}

async function open(page, server) {
  await page.goto(server.url);
  await page.locator('[data-testid="shell"]').waitFor();
  await page.keyboard.press("Control+o");
  await page.locator('[data-testid="file-path"]').fill(file);
  await page.keyboard.press("Enter");
  await page.locator('[data-testid="canvas"]').waitFor();
  await page.locator('[data-testid="use-debug"]').click();
  await page.locator('[data-testid="threads"]').waitFor();
}

/** Does a program that was killed lately run the thread for some, and for those who know that it is gone no more? */
function isUnsure(thread, now, ...views) {
  const [one, other] = views.map((view) => view.includes("running"));
  return one !== other && now - (killed.get(thread) ?? 0) < CLAIM;
}

/** What a window shows, in the same words. */
async function shown(page) {
  const found = await page.evaluate(() => ({
    threads: [...document.querySelectorAll('[data-testid="thread"]')].map((row) => [row.dataset.thread, row.dataset.status]),
    questions: document.querySelector('[data-testid="inbox-count"]')?.textContent ?? "0",
  }));
  const held = new Map(found.threads.map(([thread, status]) => [thread, STANDS[status] ?? status]));
  held.set("questions", found.questions);
  return held;
}

const wrong = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
try {
  const servers = [await serve("one"), await serve("two")];
  const pages = [];
  for (const server of servers) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on("pageerror", (error) => wrong.push({ what: "error in the page", text: error.message }));
    await open(page, server);
    pages.push(page);
  }
  countQuestions();
  const until = Date.now() + minutes * 60_000;
  // Two programs share the folder of the first window, and two have one of their own.
  const folders = [servers[0].data, servers[0].data, join(folder, "three"), join(folder, "four")];
  const working = Promise.all(folders.map((data, n) => work(data, random(seed + n), until)));
  let failed = null;
  working.catch((error) => (failed = error));

  /** What was held, newest last, each with when reading began and ended. */
  const history = [];
  /** Since when each window has shown what it shows. */
  const seen = pages.map(() => new Map());
  let comparisons = 0;
  let said = 0;
  while (Date.now() < until && failed === null) {
    const began = Date.now();
    const held = await truth(folders[2]);
    history.push({ began, ended: Date.now(), held });
    while (history.length > 2 && history[1].ended < began - 60_000) history.shift();
    for (const [n, page] of pages.entries()) {
      const asked = Date.now();
      const window = await shown(page);
      // All that was held in the last second; the reading before it, because that was true until the next began.
      const first = history.findLastIndex((each) => each.ended < asked - FRESH);
      if (first < 0) continue;
      const recent = history.slice(first);
      // Something that changes between two readings is judged when the reading after it is here.
      const steady = recent.length >= 3;
      for (const what of new Set([...window.keys(), ...recent.flatMap((each) => [...each.held.keys()])])) {
        comparisons += 1;
        const sees = window.get(what);
        if (!seen[n].has(what) || seen[n].get(what).value !== sees) seen[n].set(what, { value: sees, since: asked });
        if (asked - seen[n].get(what).since < FRESH) continue;
        // A run is one from its beginning; storage has its claim with the first commit.
        if (sees === "running" && asked - (worked.get(what) ?? 0) < FRESH) continue;
        if (what === "questions" && numbersSince(recent[0].began).includes(sees)) continue;
        if (steady && !recent.some((each) => each.held.get(what) === sees)) {
          const after = await truth(folders[2]);
          if (after.get(what) === sees) continue;
          // Who shares the data folder of a program that was killed knows that it is gone; the others wait for its claim.
          if (isUnsure(what, asked, [sees], recent.map((each) => each.held.get(what)))) continue;
          const now = (await shown(page)).get(what);
          wrong.push({ at: new Date(asked).toISOString(), window: n, what, shows: sees ?? "nothing", held: recent.map((each) => each.held.get(what) ?? "nothing"), after: after.get(what) ?? "nothing", then: now ?? "nothing" });
          console.log(JSON.stringify(wrong.at(-1)));
        }
      }
    }
    if (Date.now() - said > 60_000) {
      said = Date.now();
      console.log(`${Math.round((until - said) / 60_000)} min left, ${comparisons} comparisons, ${wrong.length} wrong, ${[...counts].map(([name, n]) => `${name} ${n}`).join(", ")}`);
    }
    await sleep(Math.max(0, EVERY - (Date.now() - began)));
  }
  await working;
  await sleep(FRESH);
  const last = await truth(folders[2]);
  for (const [n, page] of pages.entries()) {
    const window = await shown(page);
    for (const what of new Set([...window.keys(), ...last.keys()]))
      if (window.get(what) !== last.get(what) && !isUnsure(what, Date.now(), [window.get(what)], [last.get(what)])) wrong.push({ window: n, what, shows: window.get(what), held: last.get(what), at: "the end" });
  }
  console.log(JSON.stringify({ seed, minutes, comparisons, wrong: wrong.length, ...Object.fromEntries(counts) }));
  for (const each of wrong) console.log(JSON.stringify(each));
} finally {
  await browser.close();
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
process.exit(wrong.length > 0 ? 1 : 0);
