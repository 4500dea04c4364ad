/** Logins to MCP servers: asked for where the server is connected, done in the browser, kept out of every file. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { join } from "node:path";
import { expect, test, type Superstep } from "./superstep";

const TOKEN = "access-e2e-5f0c7a";

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** An MCP server with its own authorization server, whose page has two links. */
async function listen(): Promise<{ server: Server; here: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "/", `http://${request.headers.host ?? ""}`);
      const here = url.origin;
      const body = await bodyOf(request);
      const say = (status: number, json: unknown, headers: Record<string, string> = {}) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(json === null ? "" : JSON.stringify(json));
      };
      if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
        return say(200, { resource: `${here}/mcp`, authorization_servers: [here] });
      if (url.pathname.startsWith("/.well-known/oauth-authorization-server"))
        return say(200, {
          issuer: here,
          authorization_endpoint: `${here}/authorize`,
          token_endpoint: `${here}/token`,
          registration_endpoint: `${here}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      if (url.pathname === "/register") return say(201, { ...(JSON.parse(body) as object), client_id: "e2e" });
      if (url.pathname === "/authorize") {
        const back = (answer: string) => {
          const to = new URL(url.searchParams.get("redirect_uri") ?? "");
          to.search = `${answer}&state=${encodeURIComponent(url.searchParams.get("state") ?? "")}`;
          return to.href.replaceAll("&", "&amp;");
        };
        response.writeHead(200, { "content-type": "text/html" });
        response.end(
          `<h1>Notes</h1><a href="${back("code=code-e2e-1")}">Allow</a> <a href="${back("error=access_denied")}">Deny</a>`,
        );
        return;
      }
      if (url.pathname === "/token") {
        bodies.push(body);
        return say(200, { access_token: TOKEN, token_type: "Bearer", expires_in: 3600 });
      }
      if (request.headers.authorization !== `Bearer ${TOKEN}`)
        return say(401, { error: "invalid_token" }, {
          "www-authenticate": `Bearer resource_metadata="${here}/.well-known/oauth-protected-resource/mcp"`,
        });
      const asked = JSON.parse(body || "{}") as { id?: number; method?: string };
      const result = (value: unknown) => say(200, { jsonrpc: "2.0", id: asked.id, result: value });
      switch (asked.method) {
        case "initialize":
          return result({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } });
        case "tools/list":
          return result({ tools: [{ name: "notes", description: "All notes.", inputSchema: { type: "object" } }] });
        default:
          if (asked.id === undefined) return say(202, null);
          return say(200, { jsonrpc: "2.0", id: asked.id, error: { code: -32601, message: "unknown" } });
      }
    })();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, here: `http://127.0.0.1:${address.port}`, bodies };
}

/** Files of the data folder and of the project that hold a text. */
function holding(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((file) => readFileSync(file).includes(text));
}

async function openServer(app: Superstep, here: string): Promise<string> {
  const file = await app.openGraph({
    format: "superstep/1",
    name: "Notes",
    state: { messages: { type: "array", reducer: "add_messages" } },
    nodes: { act: { kind: "tools", config: { messages: "messages", mcp: [{ server: "notes" }] } } },
    edges: [{ from: "__start__", to: "act" }, { from: "act", to: "__end__" }],
  });
  writeFileSync(join(file, "../.mcp.json"), JSON.stringify({ mcpServers: { notes: { type: "http", url: `${here}/mcp` } } }));
  await app.page.reload();
  await app.openFile(file);
  await app.node("act").click();
  return file;
}

test("a server that asks for a login is signed in to in the browser, and out", async ({ app, page }) => {
  const { server, here, bodies } = await listen();
  try {
    const file = await openServer(app, here);
    await app.id("server-connect").click();
    await app.id("trust-want-mcp-notes").check();
    await app.id(`trust-want-host-${new URL(here).host}`).check();
    await app.id("trust-allow").click();
    const button = app.id("server-sign-in");
    await expect(button).toBeVisible();
    await expect(page.getByText("asks for a login")).toBeVisible();
    await app.picture("login-needed", ["light", "dark"]);

    // A refusal is shown, and may be tried again.
    let shown = page.context().waitForEvent("page");
    await button.click();
    let browser = await shown;
    await expect(app.id("server-sign-in-waits")).toContainText("in your browser");
    await app.picture("login-waits", ["light", "dark"]);
    await browser.getByRole("link", { name: "Deny" }).click();
    await expect(browser.getByText("it was denied")).toBeVisible();
    await browser.close();
    await expect(page.getByText("it was denied")).toBeVisible();
    await app.id("server-connect").click();

    // Whoever gives up finds the form as it was, and the page comes too late.
    shown = page.context().waitForEvent("page");
    await button.click();
    browser = await shown;
    const back = await browser.getByRole("link", { name: "Allow" }).getAttribute("href");
    await browser.close();
    await app.id("server-sign-in-cancel").click();
    await expect(app.id("server-sign-in-waits")).toHaveCount(0);
    await expect.poll(() => fetch(back ?? "").then(() => true, () => false)).toBe(false);
    expect(bodies).toEqual([]);

    await app.id("server-connect").click();
    shown = page.context().waitForEvent("page");
    await button.click();
    browser = await shown;
    await browser.getByRole("link", { name: "Allow" }).click();
    await expect(browser.getByText("You are signed in to notes.")).toBeVisible();
    await browser.close();
    await expect(app.id("server-works")).toContainText("It offers one tool.");
    await expect(app.id("server-tools")).toContainText("notes");
    await expect(app.id("server-sign-out")).toBeVisible();
    await app.picture("login-signed-in", ["light", "dark"]);
    expect(new URLSearchParams(bodies[0]).get("resource")).toBe(`${here}/mcp`);

    // The login is in no file, and on no screen.
    for (const secret of [TOKEN, "code-e2e-1"]) {
      expect(holding(app.path("."), secret)).toEqual([]);
      expect(holding(join(file, ".."), secret)).toEqual([]);
      expect(await page.content()).not.toContain(secret);
    }

    await page.reload();
    await app.openFile(file);
    await app.node("act").click();
    await app.id("server-sign-out").click();
    await expect(app.id("server-sign-out")).toHaveCount(0);
    await expect(app.id("server-works")).toHaveCount(0);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
