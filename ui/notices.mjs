/**
 * Writes the licences of everything that is built into the programs: the Rust libraries that the window and the command
 * line link, and the packages of the interface. Only files that are on disk are read. A package whose licence cannot be
 * shown ends the build: what must be passed on with a program is not left out of it.
 *
 *   node notices.mjs FILE
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAMS = ["superstep-desktop", "superstep-cli"];
/** Its stylesheet becomes part of ours, although it is a tool of the build. */
const STYLESHEETS = ["tailwindcss"];
const LICENCE = /^(licen[cs]e|copying|copyright|notice|unlicense|ofl)/i;
/** Folders of a package that hold nothing that is built in; `vendor` holds the D-Bus library, which the system has. */
const APART = /^(tests?|fixtures|benches|examples|target|node_modules|vendor|\..*)$/;
/** Sources of other projects stand this deep within a package. */
const DEPTH = 3;

/** @typedef {{name: string, version: string, licence: string, home: string, authors: string, texts: string[]}} Package */

/** The texts of licences in a folder. @returns {string[]} */
function texts(folder, depth = DEPTH) {
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const path = join(folder, entry.name);
    if (entry.isFile() && LICENCE.test(entry.name) && !/\.(rs|js|ts|json|toml)$/.test(entry.name))
      found.push(readFileSync(path, "utf8").replaceAll("\r\n", "\n").trim());
    else if (entry.isDirectory() && depth > 0 && !APART.test(entry.name))
      found.push(...texts(path, depth - 1));
  }
  return [...new Set(found)];
}

/** The libraries that the programs link on this platform. @returns {Package[]} */
function rust() {
  const run = (program, ...words) =>
    execFileSync(program, words, { cwd: join(HERE, ".."), encoding: "utf8", maxBuffer: 1 << 28 });
  const platform = /^host: (.*)$/m.exec(run("rustc", "-vV"))[1];
  const known = JSON.parse(
    run("cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", platform),
  );
  const packages = new Map(known.packages.map((one) => [one.id, one]));
  const edges = new Map(known.resolve.nodes.map((node) => [node.id, node.deps]));
  const linked = new Set();
  const left = known.packages.filter((one) => PROGRAMS.includes(one.name)).map((one) => one.id);
  while (left.length > 0) {
    const id = left.pop();
    // What expands macros runs in the compiler.
    const inCompiler = packages.get(id).targets.some((target) => target.kind.includes("proc-macro"));
    if (linked.has(id) || inCompiler) continue;
    linked.add(id);
    for (const edge of edges.get(id))
      if (edge.dep_kinds.some((one) => one.kind === null)) left.push(edge.pkg);
  }
  return [...linked]
    .map((id) => packages.get(id))
    .filter((one) => one.source !== null)
    .map((one) => ({
      name: one.name,
      version: one.version,
      licence: (one.license ?? "").replaceAll("/", " OR "),
      home: one.repository ?? "",
      authors: one.authors.map((author) => author.replace(/ *<.*>/, "")).join(", "),
      texts: texts(dirname(one.manifest_path)),
    }));
}

/** The address of a package's sources; a name alone is one of GitHub. */
const address = (/** @type {string} */ given) =>
  given.replace(/^git\+/, "").replace(/^(?:github:)?([\w.-]+\/[\w.-]+)$/, "https://github.com/$1");

/** What the interface needs to run, by its lock file. @returns {Package[]} */
function npm() {
  const lock = JSON.parse(readFileSync(join(HERE, "package-lock.json"), "utf8")).packages;
  const place = (from, name) => {
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
      const path = `${at}${at === "" ? "" : "/"}node_modules/${name}`;
      if (lock[path] !== undefined) return path;
      if (at === "") return undefined;
    }
  };
  const needed = new Set();
  const left = [...Object.keys(lock[""].dependencies), ...STYLESHEETS].map((name) => place("", name));
  while (left.length > 0) {
    const path = left.pop();
    // Types alone are gone when the interface is built.
    if (path === undefined || needed.has(path) || path.includes("node_modules/@types/")) continue;
    needed.add(path);
    for (const name of Object.keys(lock[path].dependencies ?? {})) left.push(place(path, name));
  }
  return [...needed].map((path) => {
    const folder = join(HERE, path);
    const own = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return {
      name: own.name,
      version: own.version,
      licence: typeof own.license === "string" ? own.license : (own.license?.type ?? ""),
      home: address(own.repository?.url ?? own.repository ?? own.homepage ?? ""),
      authors: typeof own.author === "string" ? own.author.replace(/ *<.*/, "") : (own.author?.name ?? ""),
      texts: texts(folder, 0),
    };
  });
}

/** A file of this project. */
const own = (/** @type {string} */ name) => readFileSync(join(HERE, "..", name), "utf8").trim();

/**
 * Finds a text for those that come without one: that of the same project's other packages, or the licence's own words.
 * @param {Package[]} packages
 */
function complete(packages) {
  for (const one of packages.filter((one) => one.texts.length === 0)) {
    const others = packages.filter((other) => other !== one && other.texts.length > 0);
    const same = (other) => other.licence === one.licence && one.home !== "" && other.home === one.home;
    const choices = one.licence.split(/ OR /);
    const names = one.authors === "" ? `the authors of ${one.name}` : one.authors;
    if (others.some(same)) one.texts = others.find(same).texts;
    else if (choices.includes("MIT"))
      one.texts = [own("LICENSE-MIT").replace(/^Copyright.*$/m, () => `Copyright (c) ${names}`)];
    else if (choices.includes("Apache-2.0")) one.texts = [own("LICENSE-APACHE")];
    else if (choices.includes("MPL-2.0"))
      one.texts = others.find((other) => other.licence === "MPL-2.0")?.texts ?? [];
    if (one.texts.length === 0)
      throw new Error(
        `${one.name} ${one.version} (${one.licence || "no licence"}) has no licence text on disk, and notices.mjs knows ` +
          "none for it. Add the text to notices.mjs, or remove the package.",
      );
  }
}

/** @param {[string, Package[]][]} parts */
function written(parts) {
  const all = parts.flatMap(([, packages]) => packages);
  complete(all);
  /** @type {Map<string, Package[]>} */
  const byText = new Map();
  for (const one of all) for (const text of one.texts) byText.set(text, [...(byText.get(text) ?? []), one]);
  const title = (one) => `${one.name} ${one.version}`;
  const lines = [
    "Superstep is free software under the MIT licence or the Apache licence 2.0, as you choose. It contains the work of",
    "others: these are the packages, then the texts of all licences, beginning with its own. The sources of each are at",
    "the address beside it, those under the MPL and the EPL included, which are unchanged. The Rust standard library",
    "(MIT OR Apache-2.0) is part of the programs; SQLite (public domain) is in libsqlite3-sys.",
    "",
  ];
  for (const [heading, packages] of parts) {
    lines.push(`${heading} (${packages.length})`, "");
    for (const one of packages.sort((a, b) => (title(a) < title(b) ? -1 : 1)))
      lines.push(
        `  ${title(one)}: ${one.licence || "see its text"}${one.home === "" ? "" : `, ${one.home}`}`,
      );
    lines.push("");
  }
  const ruler = "-".repeat(80);
  for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) lines.push(ruler, "Superstep", "", own(file), "");
  for (const [text, packages] of byText)
    lines.push(ruler, [...new Set(packages.map(title))].join(", "), "", text, "");
  return lines.join("\n");
}

const [file] = process.argv.slice(2);
if (file === undefined || !existsSync(dirname(file))) {
  console.error(`Usage: node ${relative(process.cwd(), join(HERE, basename(import.meta.url)))} FILE`);
  process.exit(2);
}
try {
  writeFileSync(
    file,
    written([
      ["Libraries of the programs", rust()],
      ["Packages of the interface", npm()],
    ]),
  );
} catch (error) {
  const missing = error?.code === "ENOENT" && /^(cargo|rustc)$/.test(error.path);
  console.error(
    missing ? `${error.path} was not found; the libraries' licences are read with it.` : error.message,
  );
  process.exit(1);
}
