/** Files and packages that differ between a version and the graph as it is now, or between two versions. Pure. */
import type { Change } from "../../document/diff";
import type { FileNow } from "../../ipc/bindings/FileNow";
import type { PackageChange } from "../../ipc/bindings/PackageChange";
import type { VersionContent } from "../../ipc/bindings/VersionContent";

type Content = Pick<VersionContent, "files" | "packages">;

export interface Environment {
  readonly files: readonly { readonly path: string; readonly mark: Change }[];
  /** Files of both versions that changed since both: nobody can say whether they differ. */
  readonly unknown: readonly string[];
  readonly packages: readonly PackageChange[];
}

const MARKS = { changed: "changed", gone: "removed", added: "added" } as const;

export const sinceVersion = ({ files, packages }: Content): Environment => ({
  files: files.flatMap(({ path, now }) => (now === "same" ? [] : [{ path, mark: MARKS[now] }])),
  unknown: [],
  packages,
});

const isIn = (now: FileNow | undefined): boolean => now !== undefined && now !== "added";

/** From one version to another: each says how it differs from now. */
export function betweenVersions(older: Content, newer: Content): Environment {
  const a = new Map(older.files.map(({ path, now }) => [path, now]));
  const b = new Map(newer.files.map(({ path, now }) => [path, now]));
  const files: { path: string; mark: Change }[] = [];
  const unknown: string[] = [];
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [before, after] = [a.get(path), b.get(path)];
    if (isIn(before) !== isIn(after)) files.push({ path, mark: isIn(after) ? "added" : "removed" });
    else if (!isIn(before) || (before === "same" && after === "same")) continue;
    else if (before === "same" || after === "same") files.push({ path, mark: "changed" });
    else unknown.push(path);
  }
  const left = new Map(older.packages.map((change) => [change.name, change]));
  const right = new Map(newer.packages.map((change) => [change.name, change]));
  const packages: PackageChange[] = [];
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [from, to] = [left.get(name), right.get(name)];
    // One that did not change since a version is there as it is now.
    const before = from ? from.before : to?.after;
    const after = to ? to.before : from?.after;
    if (before !== after)
      packages.push({ name, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
  }
  return { files, unknown, packages };
}
