/** A server with a data folder of its own for each test, and short words for what a person does. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test as base, type BrowserContext, type Locator, type Page } from "@playwright/test";
import { watchReach } from "./reach";

const root = resolve(import.meta.dirname, "../..");

/** All that a page can keep; what the browser compiled is not among it. */
const STORED = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage";

class Server {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
  ) {}

  /** At a port and with a token of its own choice, or those of a server before it; `db` when it is not the folder's own. */
  static async start(data: string, { port = "0", token = "", db = "" } = {}): Promise<Server> {
    const binary = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/superstep");
    const child = spawn(
      binary,
      ["serve", "--port", port, ...(token === "" ? [] : ["--token", token]), ...(db === "" ? [] : ["--db", db]), "--data", data, "--ui", join(root, "ui/dist"), "--examples", join(root, "graphs")],
      {
        stdio: ["ignore", "pipe", "inherit"],
        // No story writes into the keychain of the person who runs the tests.
        env: { ...process.env, SUPERSTEP_E2E_KEY: "sk-e2e-7d1f0c55", DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" },
      },
    );
    const url = await new Promise<string>((found, failed) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const address = /http:\/\/\S+/.exec(text);
        if (address) found(address[0]);
      });
      child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${text}`)));
      child.on("error", failed);
    });
    return new Server(url, child);
  }

  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.kill(signal);
    await ended;
  }
}

/** Buttons in the row of a state key. */
export type KeyButton = "state-why" | "state-history" | "state-what-if";

/** What a person does in the window. */
export class Superstep {
  constructor(
    readonly page: Page,
    private server: Server,
    private readonly data: string,
  ) {}

  id(testId: string): Locator {
    return this.page.locator(`[data-testid="${testId}"]`);
  }

  /** Opens the window, where that is said with a query of the address, as `?lang=pseudo`. */
  async open(query = ""): Promise<void> {
    const address = new URL(this.server.url);
    address.search = query;
    await this.page.goto(address.href);
    // Keys that come before the window is there are lost.
    await expect(this.id("shell")).toBeVisible();
  }

  /** Kills the server without warning and starts it again on the same data. */
  async crash(): Promise<void> {
    await this.server.stop("SIGKILL");
    this.server = await Server.start(this.data);
    await this.open();
  }

  /** A window of another server, with a data folder of its own, on the same database. */
  async beside(run: (other: Superstep) => Promise<void>): Promise<void> {
    const data = mkdtempSync(join(tmpdir(), "superstep-e2e-"));
    const server = await Server.start(data, { db: `sqlite:${join(this.data, "threads.db")}` });
    const page = await this.page.context().newPage();
    try {
      await run(new Superstep(page, server, data));
    } finally {
      await page.close();
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    }
  }

  /** Kills the server without warning; the page stays open. */
  async kill(): Promise<void> {
    await this.server.stop("SIGKILL");
  }

  /** Starts the server again where the page looks for it, with another token when that is said. */
  async startAgain(token?: string): Promise<void> {
    const { port, hash } = new URL(this.server.url);
    this.server = await Server.start(this.data, { port, token: token ?? new URLSearchParams(hash.slice(1)).get("token") ?? "" });
  }

  async openExample(id: string): Promise<void> {
    await this.open();
    await this.id(`example-${id}`).click();
    await expect(this.id("canvas")).toBeVisible();
  }

  /** A file of the data folder. */
  path(path: string): string {
    return join(this.data, path);
  }

  /** Writes a graph into the data folder and answers its file. */
  write(path: string, graph: object): string {
    return this.writeText(path, JSON.stringify(graph));
  }

  writeText(path: string, text: string): string {
    const file = join(this.data, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** A command of the server, past the window: only to prepare a story. */
  async rpc<T>(command: string, request: object): Promise<T> {
    const { origin, hash } = new URL(this.server.url);
    const token = new URLSearchParams(hash.slice(1)).get("token") ?? "";
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const response = await fetch(`${origin}/rpc/${command}`, { method: "POST", headers, body: JSON.stringify(request) });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(`${command}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Opens a graph file as a person does: with the dialog of the window. */
  async openFile(file: string): Promise<void> {
    // Keys that come before the window is there are lost.
    await expect(this.id("shell")).toBeVisible();
    await this.page.keyboard.press("Control+o");
    await this.id("file-path").fill(file);
    await this.page.keyboard.press("Enter");
    // Another graph may be shown until then, with nodes of the same names.
    const { name } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown };
    if (typeof name === "string") await expect(this.id("graph-name")).toHaveText(name, { timeout: 60_000 });
    await expect(this.id("canvas")).toBeVisible();
  }

  /** Opens the app on a new graph file; answers the file. */
  async openGraph(graph: object): Promise<string> {
    const file = this.write("graphs/story/graph.json", graph);
    await this.open();
    await this.openFile(file);
    return file;
  }

  node(name: string): Locator {
    return this.id(`node-${name}`);
  }

  /** Does what the command palette finds first for the words. Letters that come before it is there go to the canvas. */
  async command(words: string): Promise<void> {
    // After a reload, too.
    await expect(this.id("shell")).toBeVisible();
    await this.page.keyboard.press("Control+k");
    await expect(this.id("command-palette").getByRole("combobox")).toBeFocused();
    await this.page.keyboard.type(words);
    await this.page.keyboard.press("Enter");
  }

  /** Goes to a node by its name, also where it is out of sight. */
  async goTo(name: string): Promise<void> {
    await this.command(name);
    await expect(this.node(name)).toBeVisible();
  }

  /** A button that stands in the row of a state key while the pointer is there; rows move while values come in. */
  async keyButton(key: string, button: KeyButton): Promise<void> {
    await expect(async () => {
      await this.key(key).hover();
      await this.key(key).getByTestId(button).click({ timeout: 1_000 });
    }).toPass({ timeout: 15_000 });
  }

  /** Draws an edge from one node's port to another's. */
  async wire(from: string, to: string): Promise<void> {
    await this.drag(this.id(`port-out-${from}`), this.id(`port-in-${to}`));
  }

  async drag(from: Locator, to: Locator): Promise<void> {
    const centre = async (what: Locator) => {
      const box = await what.boundingBox();
      if (!box) throw new Error("nothing to drag");
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const [a, b] = [await centre(from), await centre(to)];
    await this.page.mouse.move(a.x, a.y);
    await this.page.mouse.down();
    await this.page.mouse.move(a.x + 4, a.y + 2);
    await this.page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 5 });
    await this.page.mouse.move(b.x, b.y, { steps: 5 });
    await this.page.mouse.up();
  }

  async status(status: string): Promise<void> {
    await expect(this.id("run-status")).toHaveAttribute("data-status", status, { timeout: 30_000 });
  }

  /** From the result of a run to its state. */
  async showState(): Promise<void> {
    await this.id("state-inspector").locator('[data-testid="tab-state"]').click();
  }

  checkpoint(step: number, source?: string): Locator {
    const from = source ? `[data-source="${source}"]` : "";
    return this.page.locator(`[data-testid="checkpoint"][data-step="${step}"]${from}`);
  }

  key(name: string): Locator {
    return this.page.locator(`[data-testid="state-key"][data-key="${name}"]`);
  }

  /** A picture of the window or of a part of it, when SUPERSTEP_SHOTS names a folder. `./dev shots` keeps those that the docs name. */
  async picture(name: string, schemes: ("light" | "dark")[] = ["light"], of: Page | Locator = this.page): Promise<void> {
    const folder = process.env.SUPERSTEP_SHOTS;
    if (!folder) return;
    for (const scheme of schemes) {
      await this.page.emulateMedia({ colorScheme: scheme });
      await this.page.waitForTimeout(300);
      await of.screenshot({ animations: "disabled", path: join(folder, `${name}-${scheme}.png`) });
    }
    await this.page.emulateMedia({ colorScheme: "light" });
  }
}

/** Shared by the stories of one worker, so that the scripts of the window are compiled once and not in each of them. */
interface Kept {
  /** The window that the browser was started with; its profile keeps what was compiled. */
  readonly context: BrowserContext;
  /** Of all their servers: what was compiled is found again by the address of the script. */
  port: string;
}

export const test = base.extend<{ app: Superstep }, { kept: Kept }>({
  kept: [
    async ({ playwright, launchOptions }, use) => {
      const profile = mkdtempSync(join(tmpdir(), "superstep-e2e-browser-"));
      const context = await playwright.chromium.launchPersistentContext(profile, { ...launchOptions, locale: "en-US" });
      await use({ context, port: "0" });
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],

  context: async ({ kept, hasTouch, permissions }, use, info) => {
    // Fingers are given to a context as a whole, and what a story runs is counted from scripts that nobody ran before.
    const own = hasTouch || process.env.SUPERSTEP_REACH;
    const context = own ? await kept.context.browser()!.newContext({ hasTouch, locale: "en-US" }) : kept.context;
    const writeReach = watchReach(context, info);
    await context.grantPermissions(permissions ?? []);
    await use(context);
    await writeReach();
    await context.clearPermissions();
    if (own) await context.close();
    // The first page keeps the browser open.
    else await Promise.all(context.pages().slice(1).map((page) => page.close()));
  },

  page: async ({ context, viewport }, use) => {
    const page = await context.newPage();
    if (viewport) await page.setViewportSize(viewport);
    await use(page);
    await page.close();
  },

  app: async ({ page, kept }, use) => {
    const data = mkdtempSync(join(tmpdir(), "superstep-e2e-"));
    // Answers are given at once, unless a story is about taking them back.
    writeFileSync(join(data, "settings.json"), JSON.stringify({ holdS: 0 }));
    // Another program may have taken the port meanwhile.
    const server = await Server.start(data, { port: kept.port }).catch(() => Server.start(data));
    const { origin, port } = new URL(server.url);
    kept.port = port;
    // Nothing of the story before, which may have had the same address.
    const session = await page.context().newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: STORED });
    await session.detach();
    const app = new Superstep(page, server, data);
    const errors: string[] = [];
    const note = (error: Error) => errors.push(error.message);
    page.on("pageerror", note);
    await use(app);
    // What the window still reads then is gone with the server.
    page.off("pageerror", note);
    await app["server"].stop();
    rmSync(data, { recursive: true, force: true });
    expect(errors, "no error reached the page").toEqual([]);
  },
});

export { expect };
