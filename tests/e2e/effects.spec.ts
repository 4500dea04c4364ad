/** A server counts what a graph did to the world: replayed, edited, stopped and killed, it is what was chosen, never more. */
import { writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, test, type Superstep } from "./superstep";

interface Counting {
  readonly address: string;
  readonly server: Server;
  readonly asked: { path: string; key: string }[];
  /** Paths whose next request is not answered. */
  readonly silent: Set<string>;
}

async function count(): Promise<Counting> {
  const asked: Counting["asked"] = [];
  const silent = new Set<string>();
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push({ path, key: String(request.headers["idempotency-key"] ?? "") });
    request.resume();
    if (silent.delete(path)) held.push(response);
    else {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ receipt: asked.length }));
    }
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}`, asked, silent };
}

const requests = (world: Counting, path: string) => world.asked.filter((one) => one.path === path).length;
const keys = (world: Counting, path: string) =>
  new Set(world.asked.filter((one) => one.path === path).map((one) => one.key)).size;

async function openDesk(app: Superstep, world: Counting): Promise<string> {
  const post = (path: string, into: string) => ({
    method: "POST",
    url: `http://${world.address}${path}`,
    body: '{"amount": state.amount}',
    take: "answer.body.receipt",
    into,
  });
  const desk = {
    format: "superstep/1",
    name: "Booking desk",
    state: {
      amount: { type: "integer" },
      note: { type: "string" },
      booked: { type: "integer" },
      mailed: { type: "integer" },
    },
    nodes: {
      look: { kind: "assign", config: { set: { note: "'seen'" } } },
      book: { kind: "http", effect: "once", config: post("/book", "booked") },
      mail: { kind: "http", effect: "idempotent", config: post("/mail", "mailed") },
    },
    edges: [
      { from: "__start__", to: "look" },
      { from: "look", to: "book" },
      { from: "book", to: "mail" },
      { from: "mail", to: "__end__" },
    ],
    examples: [{ name: "forty", input: { amount: 40 } }],
  };
  writeFileSync(join(app["data"], "models.json"), JSON.stringify({ private_hosts: [world.address] }));
  const file = await app.openGraph(desk);
  await app.id("use-debug").click();
  return file;
}

/** Runs what the toolbar offers, and allows what the graph wants to touch when it is asked. */
async function allow(app: Superstep, world: Counting): Promise<void> {
  await app.id(`trust-want-host-${world.address}`).check();
  await app.id("trust-allow").click();
}

const replayFrom = async (app: Superstep) => {
  await app.checkpoint(0, "loop").first().click();
  await expect(app.id("past")).toBeVisible();
  await app.id("run-replay").click();
};
const effect = (app: Superstep, node: string) => app.id("effect").filter({ hasText: node });

test("a replay, an edit and a kill repeat what was chosen and never more", async ({ app, page }) => {
  const world = await count();
  try {
    const file = await openDesk(app, world);
    await app.id("run-form").getByLabel("amount").fill("40");
    await app.id("run-start").click();
    await allow(app, world);
    await app.status("done");
    expect([requests(world, "/book"), requests(world, "/mail")]).toEqual([1, 1]);

    // Used: nothing is heard.
    await replayFrom(app);
    await expect(app.id("effect")).toHaveCount(2);
    await app.id("effects-go").click();
    await expect(app.id("past")).toHaveCount(0);
    await app.status("done");
    expect(world.asked.length).toBe(2);

    // Again for what may be repeated: the same key; the other one stands before its node.
    await replayFrom(app);
    await effect(app, "book").getByText("Stop before it").click();
    await effect(app, "mail").getByText("Do it again").click();
    await app.id("effects-go").click();
    await app.status("paused");
    expect(world.asked.length).toBe(2);
    await app.id("run").click();
    await app.status("asking");
    await app.id("answer-choice").filter({ hasText: "Use its result" }).click();
    await expect(app.id("answer-banner")).toContainText("mail");
    await app.id("answer-choice").filter({ hasText: "Do it again" }).click();
    await app.status("done");
    expect([requests(world, "/book"), requests(world, "/mail"), keys(world, "/mail")]).toEqual([1, 2, 1]);

    // Killed in the middle: nobody knows, so a person is asked, and what may be repeated keeps its key.
    world.silent.add("/book");
    await app.id("run-with-input").click();
    const where = app.id("run-form").getByRole("tab", { name: "New thread" });
    if (await where.isVisible()) await where.click();
    await app.id("run-form").getByLabel("amount").fill("7");
    await app.id("run-start").click();
    await expect.poll(() => requests(world, "/book")).toBe(2);
    await app.crash();
    await app.openFile(file);
    await app.id("use-debug").click();
    await app.id("thread").first().click();
    await app.status("stopped");
    await app.id("run").click();
    await app.status("asking");
    await expect(app.id("answer-banner")).toContainText("Did");
    expect(requests(world, "/book")).toBe(2);
    await app.id("answer-choice").filter({ hasText: "It did not" }).click();
    await app.status("done");
    expect([requests(world, "/book"), requests(world, "/mail"), keys(world, "/mail")]).toEqual([3, 3, 2]);
  } finally {
    world.server.closeAllConnections();
    world.server.close();
  }
});
