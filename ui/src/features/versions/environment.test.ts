// @vitest-environment jsdom
import { expect, it } from "vitest";
import { useSession } from "../../state/session";
import { compareWith, shownVersion, showVersion, swapVersions } from "../../state/shown-version";
import { betweenVersions, sinceVersion } from "./environment";

const content = (
  files: Record<string, "same" | "changed" | "gone" | "added">,
  packages: { name: string; before?: string; after?: string }[] = [],
) => ({ files: Object.entries(files).map(([path, now]) => ({ path, now })), packages });

it("says of one version what changed since", () => {
  const { files, unknown } = sinceVersion(content({ a: "same", b: "changed", c: "gone", d: "added" }));
  expect(files.map(({ path, mark }) => `${path} ${mark}`)).toEqual(["b changed", "c removed", "d added"]);
  expect(unknown).toEqual([]);
});

it("says of two versions what differs between them, and what nobody can say", () => {
  const older = content({ same: "same", mine: "changed", both: "changed", lost: "gone", later: "added" }, [
    { name: "numpy", before: "1", after: "3" },
    { name: "rich", before: "7", after: "8" },
  ]);
  const newer = content({ same: "same", mine: "same", both: "changed", later: "same" }, [
    { name: "numpy", before: "2", after: "3" },
    { name: "httpx", after: "1" },
  ]);
  const { files, unknown, packages } = betweenVersions(older, newer);
  expect(files.map(({ path, mark }) => `${path} ${mark}`)).toEqual([
    "mine changed",
    "lost removed",
    "later added",
  ]);
  expect(unknown).toEqual(["both"]);
  expect(packages).toEqual([
    { name: "numpy", before: "1", after: "2" },
    { name: "rich", before: "7", after: "8" },
    { name: "httpx", before: "1" },
  ]);
});

it("compares the shown version with another, exchanges them, and goes back to the current graph", () => {
  useSession.setState({ graphId: "g" });
  showVersion({ graphId: "g", id: "a", label: "A", compare: false });
  compareWith({ id: "b", label: "B" });
  expect(shownVersion()).toMatchObject({ id: "a", compare: true, against: { id: "b" } });
  swapVersions();
  expect(shownVersion()).toMatchObject({ id: "b", label: "B", against: { id: "a", label: "A" } });
  compareWith(null);
  expect(shownVersion()).toEqual({ graphId: "g", id: "b", label: "B", compare: true });
});
