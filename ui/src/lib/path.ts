/** Paths as file dialogs and file settings need them. Knows both kinds of separators, because the host may run on either. */

function separatorOf(path: string): string {
  return path.includes("\\") && !path.includes("/") ? "\\" : "/";
}

export function splitPath(path: string): { dir: string; name: string } {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  if (at < 0) return { dir: "", name: path };
  return { dir: at === 0 ? path.slice(0, 1) : path.slice(0, at), name: path.slice(at + 1) };
}

export function joinPath(dir: string, name: string): string {
  const separator = separatorOf(dir);
  return dir.endsWith(separator) ? dir + name : `${dir}${separator}${name}`;
}

export function isAbsolute(path: string): boolean {
  return /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}

/** The folders of a path, from the root down. */
export function crumbsOf(dir: string): { name: string; path: string }[] {
  const separator = separatorOf(dir);
  const root = /^([A-Za-z]:)?[\\/]/.exec(dir)?.[0] ?? "";
  const crumbs = root === "" ? [] : [{ name: root, path: root }];
  let path = root;
  for (const name of dir.slice(root.length).split(/[\\/]/)) {
    if (name === "") continue;
    path = path === "" || path.endsWith(separator) ? path + name : path + separator + name;
    crumbs.push({ name, path });
  }
  return crumbs;
}

export function hasEnding(name: string, ending: string): boolean {
  return name.toLowerCase().endsWith(`.${ending}`);
}

/** A file name with its ending. */
export function withEnding(name: string, ending = "json"): string {
  return hasEnding(name, ending) ? name : `${name}.${ending}`;
}

/** Where a path leads that is seen from a folder: `.` and `..` are followed. */
export function resolvePath(dir: string, path: string): string {
  if (isAbsolute(path)) return path;
  return path.split(/[\\/]/).reduce((at, name) => {
    if (name === "" || name === ".") return at;
    return name === ".." ? splitPath(at).dir || at : joinPath(at, name);
  }, dir);
}

/** The name of a graph file for people: of a `graph.json`, that of its folder. */
export function fileOf(path: string): string {
  const { dir, name } = splitPath(path);
  return name.toLowerCase() === "graph.json" ? splitPath(dir).name : name;
}
