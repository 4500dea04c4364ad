/** What a graph may touch is asked before it runs; connections to model servers are set up and tried. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect, test, type Superstep } from "./superstep";

const KEY = "sk-e2e-7d1f0c55";

/** A page for a tool, and a list of models for whoever has the key. */
async function listen(seen: string[]): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    if (request.url !== "/v1/models") response.end('{"weather": "fine"}');
    else if (request.headers.authorization === `Bearer ${KEY}`)
      response.end('{"object": "list", "data": [{"id": "small", "object": "model"}, {"id": "large", "object": "model"}]}');
    else {
      response.statusCode = 401;
      response.end(`{"error": {"message": "no such key: ${request.headers.authorization}"}}`);
    }
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}` };
}

function project(app: Superstep, address: string): string {
  const script = [{ say: "", calls: [{ tool: "here", args: {} }] }];
  const messages = "messages";
  const graph = {
    format: "superstep/1",
    name: "Weather",
    state: { messages: { type: "array", reducer: "add_messages" } },
    nodes: {
      ask: {
        kind: "model",
        config: { model: "scripted", messages, into: messages, tools_of: "fetch", pace_ms: 0, script },
      },
      fetch: {
        kind: "tools",
        config: {
          messages,
          tools: [
            { name: "here", description: "The weather here.", http: { url: `http://${address}/weather` } },
            { name: "there", description: "The weather there.", http: { url: "https://api.example.org/weather" } },
          ],
        },
      },
    },
    edges: [
      { from: "__start__", to: "ask" },
      { from: "ask", to: "fetch" },
      { from: "fetch", to: "__end__" },
    ],
    examples: [{ name: "go", input: { messages: [{ role: "user", content: "What is the weather?" }] } }],
  };
  return app.write("graphs/weather/graph.json", graph);
}

test("a graph asks before it reaches a server, once, and what was allowed can be taken back", { tag: "@docs" }, async ({ app, page }) => {
  const seen: string[] = [];
  const { server, address } = await listen(seen);
  try {
    const file = project(app, address);
    await app.open();
    await app.openFile(file);
    await app.id("use-debug").click();
    await app.id("run").click();

    const dialog = app.id("trust");
    await expect(dialog).toContainText("“Weather” needs permission");
    await expect(dialog).toContainText("inside your network");
    await expect(dialog).toContainText("by fetch");
    await app.picture("trust", ["light", "dark"]);
    expect(seen, "nothing was sent before").toEqual([]);
    // What is inside the own network is decided by hand; a public server is ticked already.
    await expect(app.id("trust-want-host-api.example.org")).toBeChecked();
    const inside = app.id(`trust-want-host-${address}`);
    await expect(inside).not.toBeChecked();
    await expect(app.id("trust-allow")).toBeDisabled();

    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    await expect(app.id("thread"), "no thread was begun").toHaveCount(0);

    await app.id("run").click();
    await expect(app.id("trust-later")).toBeFocused();
    await inside.focus();
    await page.keyboard.press("Space");
    await page.setViewportSize({ width: 800, height: 520 });
    await expect(app.id("trust-allow")).toBeInViewport();
    await page.setViewportSize({ width: 1440, height: 900 });
    await app.id("trust-allow").click();
    await app.status("done");
    expect(seen).toEqual(["/weather"]);
    const kept = join(app["data"], "trust.json");
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, "utf8")).toContain(address);

    await app.command("may touch");
    await expect(dialog).toContainText("Permissions of “Weather”");
    await expect(inside).toBeChecked();
    await page.keyboard.press("Escape");

    await app.command("Trust");
    await expect(app.id("trust-project")).toContainText("weather");
    await app.id(`trust-grant-host-${address}`).getByRole("button").click();
    await expect(app.id(`trust-grant-host-${address}`)).toHaveCount(0);
    await page.keyboard.press("Escape");

    await app.id("run").click();
    await app.id("run-start").click();
    await expect(dialog).toContainText(address);
    await expect(dialog).not.toContainText("api.example.org");
    await app.id("trust-later").click();
    expect(seen).toEqual(["/weather"]);
  } finally {
    server.close();
  }
});

test("a connection is set up, tried, changed and removed", async ({ app, page }) => {
  const { server, address } = await listen([]);
  try {
    writeFileSync(join(app["data"], "models.json"), '{"prices": {"office::small": {"input": 1, "output": 2}}}');
    await app.open();
    await app.command("Model connections");
    await expect(app.id("connections")).toContainText("No connections yet");
    await app.id("connection-add").click();
    await app.id("connection-name").fill("office");
    await app.id("connection-url").fill(`http://${address}/v1`);
    await page.getByRole("combobox", { name: "Key" }).click();
    await page.getByRole("option", { name: "Environment variable" }).click();
    await app.id("connection-variable").fill("SUPERSTEP_E2E_MISSING");
    await app.id("connection-test").click();
    await expect(app.id("connection-tested")).toContainText("SUPERSTEP_E2E_MISSING");
    await app.id("connection-variable").fill("SUPERSTEP_E2E_KEY");
    await app.id("connection-test").click();
    await expect(app.id("connection-tested")).toContainText("it offers 2 models");
    await expect(app.id("connection-tested")).toContainText("office::small");
    await app.id("connection-save").click();
    await expect(app.id("connection-office")).toContainText("key found");
    const file = join(app["data"], "models.json");
    const written = JSON.parse(readFileSync(file, "utf8"));
    expect(written.connections.office).toEqual({
      provider: "openai",
      base_url: `http://${address}/v1`,
      key_variable: "SUPERSTEP_E2E_KEY",
    });
    expect(written.prices["office::small"].output, "what else is in the file stays").toBe(2);
    expect(readFileSync(file, "utf8")).not.toContain(KEY);

    await page.getByRole("button", { name: "Remove office" }).click();
    await app.id("confirm").click();
    await expect(app.id("connections")).toContainText("No connections yet");
  } finally {
    server.close();
  }
});

test("the price of a model whose connection is gone is still listed, and can be changed and removed", async ({ app, page }) => {
  const file = join(app["data"], "models.json");
  const connections = { office: { provider: "openai", base_url: "http://127.0.0.1:9/v1" } };
  writeFileSync(file, JSON.stringify({ connections, prices: { "office::small": { input: 1, output: 2 } } }));
  const prices = () => JSON.parse(readFileSync(file, "utf8")).prices ?? {};
  await app.open();
  await app.command("Model connections");
  const row = app.id("price-of-office::small");
  await expect(row).toContainText("office::small");
  await page.getByRole("button", { name: "Remove office" }).click();
  await app.id("confirm").click();
  await expect(app.id("connections")).toContainText("No connections yet");
  await expect(row).toHaveText("office::small12");

  await row.getByRole("button", { name: "office::small" }).first().click();
  await expect(app.id("price-model").and(page.locator("input")).or(app.id("price-model").locator("input"))).toHaveValue("office::small");
  await app.id("price-output").and(page.locator("input")).or(app.id("price-output").locator("input")).fill("3");
  await page.keyboard.press("Enter");
  await expect(app.id("price")).toHaveCount(0);
  await expect(row).toHaveText("office::small13");
  expect(prices()["office::small"]).toEqual({ input: 1, output: 3 });
  await page.reload();
  await app.command("Model connections");
  await expect(row).toHaveText("office::small13");
  await row.getByRole("button", { name: "office::small" }).last().click();
  await expect(row).toHaveCount(0);
  expect(prices()).toEqual({});
});
