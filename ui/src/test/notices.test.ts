/** The list of what is built in, as a build writes it: read from this machine's packages, of both languages. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

it("lists what is linked with its licence texts, and nothing that only builds or tests", () => {
  const folder = mkdtempSync(join(tmpdir(), "notices-"));
  const file = join(folder, "notices.txt");
  execFileSync("node", ["notices.mjs", file], { stdio: ["ignore", "ignore", "inherit"] });
  const text = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });

  const [list, ...texts] = text.split(`\n${"-".repeat(80)}\n`);
  const names = [...list!.matchAll(/^ {2}(\S+ \S+): (.*)$/gm)].map((line) => ({
    is: line[1]!,
    says: line[2]!,
  }));
  const has = (name: string) => names.some((one) => one.is.startsWith(`${name} `));
  for (const name of ["tauri", "tokio", "libsqlite3-sys", "rquickjs-sys", "react", "elkjs", "tailwindcss"])
    expect(has(name), `${name} is built in`).toBe(true);
  for (const name of [
    "proptest",
    "insta",
    "tauri-build",
    "serde_derive",
    "superstep",
    "vite",
    "vitest",
    "@types/d3-drag",
  ])
    expect(has(name), `${name} is not built in`).toBe(false);

  // Each package stands over at least one text, sources of others within a package have theirs too.
  const shown = new Set(texts.flatMap((part) => part.split("\n\n")[0]!.split(", ")));
  expect(names.filter((one) => !shown.has(one.is)).map((one) => one.is)).toEqual([]);
  expect(names.filter((one) => /^(see its text|$)/.test(one.says)).map((one) => one.is)).toEqual([]);
  for (const words of [
    "Fabrice Bellard",
    "Mozilla Public License Version 2.0",
    "SIL OPEN FONT LICENSE",
    "OpenSSL",
  ])
    expect(text).toContain(words);
}, 60_000);
