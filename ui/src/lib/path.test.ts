import { describe, expect, it } from "vitest";
import { crumbsOf, isAbsolute, joinPath, resolvePath, splitPath, withEnding } from "./path";

describe("paths", () => {
  it("splits and joins with the separator of the path", () => {
    expect(splitPath("/home/a/graph.json")).toEqual({ dir: "/home/a", name: "graph.json" });
    expect(splitPath("/graph.json")).toEqual({ dir: "/", name: "graph.json" });
    expect(joinPath("/", "a")).toBe("/a");
    expect(joinPath("/home", "a")).toBe("/home/a");
    expect(joinPath("C:\\Users", "a")).toBe("C:\\Users\\a");
  });
  it("lists the folders from the root down", () => {
    expect(crumbsOf("/home/a").map((crumb) => crumb.path)).toEqual(["/", "/home", "/home/a"]);
    expect(crumbsOf("C:\\Users\\a").map((crumb) => crumb.path)).toEqual([
      "C:\\",
      "C:\\Users",
      "C:\\Users\\a",
    ]);
    expect(crumbsOf("/")).toEqual([{ name: "/", path: "/" }]);
  });
  it("knows absolute paths and adds the ending once", () => {
    expect(isAbsolute("/a")).toBe(true);
    expect(isAbsolute("C:\\a")).toBe(true);
    expect(isAbsolute("a/b")).toBe(false);
    expect(withEnding("a.JSON")).toBe("a.JSON");
    expect(withEnding("a")).toBe("a.json");
    expect(withEnding("a", "jsonl")).toBe("a.jsonl");
    expect(withEnding("a.JSONL", "jsonl")).toBe("a.JSONL");
  });
  it("follows a path from a folder", () => {
    expect(resolvePath("/a/b", "c.json")).toBe("/a/b/c.json");
    expect(resolvePath("/a/b", "../c/./d.json")).toBe("/a/c/d.json");
    expect(resolvePath("/a", "../../../d.json")).toBe("/d.json");
    expect(resolvePath("/a", "/x/d.json")).toBe("/x/d.json");
    expect(resolvePath("C:\\a", "b/c.json")).toBe("C:\\a\\b\\c.json");
  });
});
