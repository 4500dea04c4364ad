/**
 * Which functions of the interface and of the server a story ran, for `./dev test --changed`: those that the browser counted, looked
 * up in the maps that the build leaves beside it, and those that the server's own counters name (tests/gate/ran.py). Without
 * SUPERSTEP_REACH, the folder for the record, nothing is counted.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, join, relative, resolve } from "node:path";
import type { BrowserContext, CDPSession, TestInfo } from "@playwright/test";

const root = resolve(import.meta.dirname, "../..");

/** A file, and a line from 1 on. */
interface Place {
  readonly source: string;
  readonly line: number;
}

/** A script of the build: where its lines begin, and what they were made of. */
class Script {
  private readonly starts = [0];
  private readonly seen = new Map<number, Place | undefined>();

  private constructor(
    text: string,
    private readonly map: SourceMap,
  ) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
  }

  private static readonly known = new Map<string, Script | undefined>();

  static of(url: string, maps: string): Script | undefined {
    const name = basename(new URL(url).pathname);
    if (!Script.known.has(name)) {
      const [text, map] = [join(root, "ui/dist/assets", name), join(maps, `${name}.map`)];
      const script = existsSync(text) && existsSync(map) ? new Script(readFileSync(text, "utf8"), new SourceMap(JSON.parse(readFileSync(map, "utf8")))) : undefined;
      Script.known.set(name, script);
    }
    return Script.known.get(name);
  }

  /** Where the function at this place begins in the checkout; nothing for one of a library. */
  placeOf(offset: number): Place | undefined {
    if (!this.seen.has(offset)) {
      let [low, high] = [0, this.starts.length];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((this.starts[middle] ?? 0) <= offset) low = middle;
        else high = middle;
      }
      const entry = this.map.findEntry(low, offset - (this.starts[low] ?? 0));
      const source = "originalSource" in entry ? /^(?!.*node_modules).*?(?:^|\/)(src\/.*)$/.exec(entry.originalSource)?.[1] : undefined;
      this.seen.set(offset, source === undefined || !("originalLine" in entry) ? undefined : { source: `ui/${source}`, line: entry.originalLine + 1 });
    }
    return this.seen.get(offset);
  }
}

/** Functions of the workspace's crates that the programs ran which wrote these counts; the counts are taken away. */
function takeServer(folder: string, name: string): object {
  const counts = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && file.endsWith(".profraw"));
  const paths = counts.map((file) => join(folder, file));
  const text = execFileSync("python3", ["-B", join(root, "tests/gate/ran.py"), join(folder, "../debug/superstep"), ...paths], { cwd: root, maxBuffer: 1 << 28 });
  for (const path of paths) rmSync(path);
  return JSON.parse(text.toString()) as object;
}

/** Counts in every page of the context, and in the programs that the story starts; gives what writes the record down. */
export function watchReach(context: BrowserContext, info: TestInfo): () => Promise<void> {
  const folder = process.env.SUPERSTEP_REACH;
  if (!folder) return async () => {};
  const maps = join(folder, "../interface-maps");
  const ran = new Map<string, Set<number>>();
  const takes: (() => Promise<void>)[] = [];
  const id = `${relative(import.meta.dirname, info.file)}:${info.line}`;
  const name = createHash("sha256").update(`${id} ${info.title}`).digest("hex").slice(0, 16);
  // One story runs in a worker at a time. Counts that are kept while they change (%c) are there for killed ones, too.
  process.env.LLVM_PROFILE_FILE = join(folder, `${name}-%p%c.profraw`);

  const read = async (session: CDPSession) => {
    const { result } = await session.send("Profiler.takePreciseCoverage");
    for (const { url, functions } of result) {
      const script = url.startsWith("http") ? Script.of(url, maps) : undefined;
      if (!script) continue;
      for (const { ranges } of functions) {
        const range = ranges[0];
        // The script itself, which runs in every story that loads it, begins at 0.
        if (!range || range.count === 0 || range.startOffset === 0) continue;
        const place = script.placeOf(range.startOffset);
        if (!place) continue;
        const lines = ran.get(place.source) ?? new Set();
        ran.set(place.source, lines.add(place.line));
      }
    }
  };

  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const page = await newPage();
    const session = await context.newCDPSession(page);
    await session.send("Profiler.enable");
    await session.send("Profiler.startPreciseCoverage", { callCount: false, detailed: false });
    let open = true;
    const take = async () => {
      if (open && !page.isClosed()) await read(session);
    };
    takes.push(take);
    // The counts go with what the page shows.
    const { goto, reload, close } = page;
    page.goto = async (...given) => (await take(), goto.apply(page, given));
    page.reload = async (...given) => (await take(), reload.apply(page, given));
    page.close = async (...given) => {
      await take();
      open = false;
      await close.apply(page, given);
    };
    return page;
  };
  return async () => {
    for (const take of takes) await take();
    mkdirSync(folder, { recursive: true });
    const record = { id, ran: Object.fromEntries([...ran].map(([source, lines]) => [source, [...lines]])), server: takeServer(folder, name) };
    writeFileSync(join(folder, `story-${name}.json`), JSON.stringify(record));
  };
}
