/** Secrets: entered where a node needs them, sent to the server that was allowed, and read nowhere. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { join } from "node:path";
import { expect, test, type Superstep } from "./superstep";

const VALUE = "sk-e2e-entered-5f0c7a";
const OTHER = "sk-e2e-other-90d1be";

/** A server that lets in who has the key, and repeats the headers. */
async function listen(seen: IncomingHttpHeaders[]): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader("content-type", "application/json");
    response.statusCode = request.headers.authorization === `Bearer ${VALUE}` ? 200 : 401;
    response.end(JSON.stringify({ orders: 3, headers: request.headers }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}` };
}

/** Files of the data folder that hold a text. */
function holding(app: Superstep, text: string): string[] {
  const files = readdirSync(app.path("."), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((file) => readFileSync(file).includes(text));
}

const graph = (address: string) => ({
  format: "superstep/1",
  name: "Orders",
  state: { orders: {} },
  nodes: {
    fetch: {
      kind: "http",
      config: { url: `http://${address}/orders`, headers: { Authorization: "Bearer ${SHOP_TOKEN}" }, into: "orders" },
    },
  },
  edges: [
    { from: "__start__", to: "fetch" },
    { from: "fetch", to: "__end__" },
  ],
});

test("a secret is entered in the form that names it, reaches its server, and is read nowhere", async ({ app, page }) => {
  const seen: IncomingHttpHeaders[] = [];
  const { server, address } = await listen(seen);
  try {
    await app.openGraph(graph(address));
    await app.node("fetch").click();
    // What is folded away is said of as well.
    const missing = app.id("secret-missing-SHOP_TOKEN");
    await expect(missing).toContainText("No value for SHOP_TOKEN.");
    await app.picture("secret-missing", ["light", "dark"]);
    await missing.getByRole("button", { name: "Set value…" }).click();

    const dialog = app.id("secret-dialog");
    await expect(dialog).toContainText("Value of SHOP_TOKEN");
    // No keychain service answers this server: it says so, and keeps the value until it is closed.
    await expect(dialog).toContainText("The keychain cannot be used");
    const value = app.id("secret-value");
    await expect(value).toBeFocused();
    await expect(value).toHaveAttribute("type", "password");
    await value.fill("short");
    await expect(dialog).toContainText("shorter than 6 characters");
    await value.fill(VALUE);
    await app.picture("secret-dialog", ["light", "dark"]);
    await page.keyboard.press("Enter");
    await expect(dialog).toHaveCount(0);
    await expect(missing).toHaveCount(0);

    // Another header: a new secret from the menu, where the cursor is.
    await app.id("drawer-Query and headers").getByRole("button").first().click();
    const headers = page.locator('[data-pointer="/config/headers"]');
    await headers.getByRole("button", { name: "Add a field" }).click();
    await headers.locator("input").nth(1).fill("X-Account");
    await page.keyboard.press("Enter");
    const account = app.id("field-/config/headers/X-Account");
    await account.getByRole("textbox").fill("key=; v=1");
    await account.getByRole("textbox").press("Home");
    for (let at = 0; at < 4; at += 1) await page.keyboard.press("ArrowRight");
    await account.getByTestId("secret-insert").click();
    await expect(page.getByRole("menuitem", { name: /SHOP_TOKEN/ })).toContainText("in memory");
    await app.picture("secret-insert", ["light", "dark"]);
    await page.getByRole("menuitem", { name: "New secret…" }).click();
    await app.id("secret-name").fill("no name");
    await expect(dialog).toContainText("Use letters, digits and _");
    await app.id("secret-name").fill("ACCOUNT_KEY");
    await app.id("secret-value").fill(OTHER);
    await app.id("secret-save").click();
    await expect(account.getByRole("textbox")).toHaveValue("key=${ACCOUNT_KEY}; v=1");
    await expect(app.id("secret-missing-ACCOUNT_KEY")).toHaveCount(0);

    // The graph is asked about both, and is given them once they are allowed.
    await app.id("use-debug").click();
    await app.id("run").click();
    await expect(app.id("trust")).toContainText("SHOP_TOKEN");
    await expect(app.id("trust")).toContainText("ACCOUNT_KEY");
    expect(seen, "nothing was sent before").toEqual([]);
    await app.id(`trust-want-host-${address}`).check();
    for (const name of ["SHOP_TOKEN", "ACCOUNT_KEY"]) await app.id(`trust-want-key-${name}@${address}`).check();
    await app.id("trust-allow").click();
    await app.status("done");
    expect(seen.map((each) => [each.authorization, each["x-account"]])).toEqual([
      [`Bearer ${VALUE}`, `key=${OTHER}; v=1`],
    ]);

    // The server repeated them. They are not on the screen, in the export, or in a file.
    await app.showState();
    await expect(app.id("state-inspector")).toContainText("orders");
    const { threads } = await app.rpc<{ threads: { threadId: string }[] }>("thread.list", { limit: 10 });
    const threadId = threads[0]?.threadId ?? "";
    const state = JSON.stringify(await app.rpc("thread.snapshot", { threadId }));
    expect(state).toContain("Bearer [secret]");
    const file = app.path("exported.json");
    await app.rpc("thread.export", { threadId, path: file });
    expect(readFileSync(file).length).toBeGreaterThan(0);
    const listed = JSON.stringify(await app.rpc("secrets.list", { names: ["SHOP_TOKEN"] }));
    const shown = await page.content();
    for (const secret of [VALUE, OTHER]) {
      expect(holding(app, secret), "files of the data folder").toEqual([]);
      for (const text of [shown, state, listed]) expect(text).not.toContain(secret);
    }

    // Settings list names and where their values come from; a value that is removed is missed by the form and the run.
    await app.command("Secrets");
    const secrets = app.id("secrets");
    await expect(app.id("secret-SHOP_TOKEN")).toContainText("in memory");
    await app.id("secret-add").click();
    await app.id("secret-name").fill("SUPERSTEP_E2E_KEY");
    await expect(app.id("secret-form")).toContainText("comes first");
    await page.getByRole("button", { name: "Cancel" }).click();
    await app.picture("secret-settings", ["light", "dark"]);
    await page.getByRole("button", { name: "Remove SHOP_TOKEN" }).click();
    await app.id("confirm").click();
    await expect(app.id("secret-SHOP_TOKEN")).toContainText("no value");
    await expect(secrets).toContainText("ACCOUNT_KEY");
    await page.keyboard.press("Escape");
    await app.id("run").click();
    await app.status("failed");
    await expect(page.getByText("the secret SHOP_TOKEN has no value").first()).toBeVisible();
    expect(seen).toHaveLength(1);
  } finally {
    server.close();
  }
});

test("an MCP server is given variables and headers that name secrets", async ({ app, page }) => {
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Agent",
    state: { messages: { type: "array", reducer: "add_messages" } },
    nodes: { act: { kind: "tools", config: { messages: "messages", mcp: [{ server: "near" }] } } },
    edges: [{ from: "__start__", to: "act" }, { from: "act", to: "__end__" }],
  });
  const declared = join(file, "../.mcp.json");
  writeFileSync(
    declared,
    JSON.stringify({ mcpServers: { near: { command: "serve", args: ["a b"], env: { WRITTEN: OTHER, MODE: "${MODE:-fast}" } } } }),
  );
  await page.reload();
  await app.openFile(file);
  await app.node("act").click();
  await app.id("server-edit").click();
  const form = app.id("server-form");
  await expect(app.id("server-how")).toHaveValue('serve "a b"');
  // In the order of their names; what the file has written out is not shown.
  await expect(app.id("server-variable-name-0")).toHaveValue("MODE");
  await expect(app.id("server-variable-value-0")).toHaveValue("${MODE:-fast}");
  await expect(app.id("server-variable-name-1")).toHaveValue("WRITTEN");
  await expect(app.id("server-variable-value-1")).toHaveValue("");
  expect(await page.content()).not.toContain(OTHER);
  await app.id("server-variable-add").click();
  await app.id("server-variable-name-2").fill("API_TOKEN");
  await form.getByTestId("secret-insert").nth(2).click();
  await page.getByRole("menuitem", { name: "New secret…" }).click();
  await app.id("secret-name").fill("SHOP_TOKEN");
  await app.id("secret-value").fill(VALUE);
  await page.keyboard.press("Enter");
  await expect(app.id("server-variable-value-2")).toHaveValue("${SHOP_TOKEN}");
  await app.picture("secret-server", ["light", "dark"]);
  await app.id("server-done").click();
  // It is another program now, and is asked about before it is started.
  await expect(app.id("trust")).toContainText("SHOP_TOKEN");
  await page.keyboard.press("Escape");
  const { mcpServers } = JSON.parse(readFileSync(declared, "utf8")) as { mcpServers: Record<string, unknown> };
  expect(mcpServers["near"]).toEqual({
    command: "serve",
    args: ["a b"],
    env: { MODE: "${MODE:-fast}", WRITTEN: OTHER, API_TOKEN: "${SHOP_TOKEN}" },
  });
  expect(holding(app, VALUE)).toEqual([]);

  // A server at an address has headers instead.
  await app.id("server-edit").click();
  await app.id("server-how").fill("https://mcp.example.org/mcp");
  await expect(form).toContainText("Sent to the address.");
});

test("a pasted key of several lines reaches a body as it is, and no line of it is read", async ({ app, page }) => {
  const lines = ["MIIEe2eLineOne/4711+a", "MIIEe2eLineTwo/0815+b", "x9=="];
  const pem = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----"].join("\r\n");
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ lines: body.split("\n") }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as { port: number };
  try {
    const { nodes, ...rest } = graph(`127.0.0.1:${port}`);
    const { headers: _headers, ...config } = nodes.fetch.config;
    await app.openGraph({ ...rest, nodes: { fetch: { kind: "http", config: { ...config, method: "POST", body: "'${SHOP_PEM}'" } } } });
    await app.node("fetch").click();
    await app.id("secret-enter-SHOP_PEM").click();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate((text) => navigator.clipboard.writeText(text), `${pem}\r\n`);
    const value = app.id("secret-value");
    await expect(value).toHaveAttribute("type", "password");
    await page.keyboard.press("Control+v");
    await expect(value).toHaveJSProperty("tagName", "TEXTAREA");
    await expect(value).toBeFocused();
    await expect(value).toHaveCSS("-webkit-text-security", "disc");
    await expect(app.id("secret-dialog")).toContainText("5 lines");
    await app.picture("secret-lines", ["light", "dark"]);
    await app.id("secret-show").click();
    await expect(value).toHaveCSS("-webkit-text-security", "none");
    await app.picture("secret-lines-shown", ["light", "dark"]);
    await app.id("secret-save").click();
    await expect(app.id("secret-dialog")).toHaveCount(0);

    await app.id("use-debug").click();
    await app.id("run").click();
    await app.id(`trust-want-host-127.0.0.1:${port}`).check();
    await app.id(`trust-want-key-SHOP_PEM@127.0.0.1:${port}`).check();
    await app.id("trust-allow").click();
    await app.status("done");
    expect(bodies.map((body) => body.trimEnd())).toEqual([pem.replaceAll("\r\n", "\n")]);
    // The server answered with its lines.
    await app.showState();
    await expect(app.id("state-inspector")).toContainText("orders");
    const { threads } = await app.rpc<{ threads: { threadId: string }[] }>("thread.list", { limit: 10 });
    const state = JSON.stringify(await app.rpc("thread.snapshot", { threadId: threads[0]?.threadId ?? "" }));
    expect(state).toContain('"[secret]","[secret]","x9=="');
    const shown = await page.content();
    for (const line of lines.slice(0, 2)) {
      expect(holding(app, line), "files of the data folder").toEqual([]);
      for (const text of [shown, state]) expect(text).not.toContain(line);
    }
  } finally {
    server.close();
  }
});
