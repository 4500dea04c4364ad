/** "Use from code": the programs that the window shows run the open graph, as they stand. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "./superstep";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const graph = JSON.parse(readFileSync(join(root, "graphs/refund-desk/graph.json"), "utf8")) as object;

/** A file as it stands in the dialog, and what it prints when it runs. */
async function printed(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const { stdout } = await run(command, args, { cwd, env: { ...process.env, ...env }, timeout: 60_000 });
  return JSON.parse(stdout);
}

test("shell, Python and TypeScript run the graph, and answer what it asks", async ({ app, page }) => {
  await app.openGraph(graph);
  await app.id("app-menu").click();
  await page.getByRole("menuitem", { name: "Use from code…" }).click();
  const text = app.id("use-from-code-text");
  await expect(text).toContainText("superstep run");
  await app.picture("use-from-code", ["light", "dark"]);

  const folder = mkdtempSync(join(tmpdir(), "superstep-code-"));
  try {
    const shell = await text.innerText();
    const { origin, hash } = new URL(app["server"].url);
    const token = new URLSearchParams(hash.slice(1)).get("token") ?? "";
    const code = async (language: string) => {
      await app.id(`tab-${language}`).click();
      await expect(text).not.toContainText("superstep run");
      return (await text.innerText()).replace("http://127.0.0.1:7878", origin);
    };
    const paid = { outcome: "paid", amount: 40, review: { decision: "approve" } };

    writeFileSync(join(folder, "run.py"), await code("python"));
    expect(await printed("python3", ["run.py"], folder, { SUPERSTEP_TOKEN: token })).toMatchObject(paid);

    writeFileSync(join(folder, "run.ts"), await code("typescript"));
    const modules = join(root, "ui/node_modules");
    const flags = ["--strict", "--target", "es2022", "--module", "commonjs", "--types", "node", "--typeRoots", join(modules, "@types")];
    await run(join(modules, ".bin/tsc"), [...flags, "run.ts"], { cwd: folder });
    expect(await printed("node", ["run.js"], folder, { SUPERSTEP_TOKEN: token })).toMatchObject(paid);

    // What each command prints is a state; the last one is the end.
    const binary = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug/superstep");
    writeFileSync(join(folder, "run.sh"), shell);
    const env = { SUPERSTEP_DATA: join(folder, "data"), PATH: `${dirname(binary)}:${process.env.PATH}` };
    const { stdout } = await run("sh", ["run.sh"], { cwd: folder, env: { ...process.env, ...env }, timeout: 60_000 });
    expect(JSON.parse(stdout.slice(stdout.lastIndexOf("\n{") + 1))).toMatchObject(paid);

    await app.id("tab-rust").click();
    await expect(text).toContainText('json!({ "decision": "approve" })');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
