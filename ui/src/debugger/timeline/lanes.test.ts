import { describe, expect, it } from "vitest";
import { branchThrough, commonAncestor, layoutLanes, MOST_LANES, pathTo } from "./lanes";

const list = (...pairs: [string, string?][]) =>
  pairs.map(([id, parent]) => ({ id, ...(parent !== undefined && { parent }) }));

/** The layout as text: one row per line, `*` the checkpoint, `|` a line that passes, `/` one that arrives from a fork. */
function draw(rows: ReturnType<typeof layoutLanes>): string[] {
  return rows.rows.map((row) => {
    const cells = Array.from({ length: rows.width }, () => " ");
    for (const line of row.lines) {
      if (line.from === line.to && line.from !== row.lane) cells[line.from] = "|";
      if (line.from !== line.to) cells[line.from] = "/";
    }
    cells[row.lane] = "*";
    return `${cells.join("").trimEnd()} ${row.id}`;
  });
}

describe("lanes of the checkpoint graph", () => {
  it("keeps a straight run in one lane", () => {
    expect(draw(layoutLanes(list(["c", "b"], ["b", "a"], ["a"])))).toEqual(["* c", "* b", "* a"]);
  });

  it("gives the newest branch the first lane and joins the older one where it forked", () => {
    // a - b - c - d, and e continues b.
    expect(draw(layoutLanes(list(["e", "b"], ["d", "c"], ["c", "b"], ["b", "a"], ["a"])))).toEqual([
      "* e",
      "|* d",
      "|* c",
      "*/ b",
      "* a",
    ]);
  });

  it("draws three forks of one checkpoint and reuses the lane that has become free", () => {
    const layout = layoutLanes(list(["f", "b"], ["e", "b"], ["d", "b"], ["b", "a"], ["x", "a"], ["a"]));
    expect(draw(layout)).toEqual(["* f", "|* e", "||* d", "*// b", "|* x", "*/ a"]);
    expect(layout.width).toBe(3);
    expect(layout.rows.find((row) => row.id === "b")?.children).toBe(3);
  });

  it("draws a fork of a fork", () => {
    const layout = layoutLanes(list(["g", "e"], ["f", "e"], ["e", "b"], ["c", "b"], ["b"]));
    expect(draw(layout)).toEqual(["* g", "|* f", "*/ e", "|* c", "*/ b"]);
  });

  it("leaves the line open when the parent is on a page that is not loaded", () => {
    const layout = layoutLanes(list(["c", "b"], ["b", "a"]));
    expect(layout.rows[1]?.lines).toContainEqual({ from: 0, to: 0, half: "lower", child: "b" });
  });

  it("has no line below the first checkpoint and none above the newest", () => {
    const layout = layoutLanes(list(["b", "a"], ["a"]));
    expect(layout.rows[0]?.lines.map((line) => line.half)).toEqual(["lower"]);
    expect(layout.rows[1]?.lines.map((line) => line.half)).toEqual(["upper"]);
  });

  it("has as many lines in a row as are seen, however many branches pass it", () => {
    // Five hundred forks of the first checkpoint, each as long as the trunk.
    const long: { id: string; parent?: string }[] = [];
    for (let fork = 500; fork >= 0; fork -= 1)
      for (let at = 19; at >= 0; at -= 1)
        long.push({
          id: `${fork}.${at}`,
          ...(at > 0 ? { parent: `${fork}.${at - 1}` } : { parent: "root" }),
        });
    long.push({ id: "root" });
    const layout = layoutLanes(long);
    expect(layout.width).toBe(501);
    const lines = layout.rows.slice(0, -1).reduce((sum, row) => sum + row.lines.length, 0);
    expect(lines).toBeLessThan(long.length * (2 * MOST_LANES + 2));
    expect(layout.rows.at(-1)?.children).toBe(501);
  });

  // Work that grows with the square of the length would not end within the time of a test.
  it("lays out two hundred thousand checkpoints", { timeout: 30_000 }, () => {
    const long = list();
    for (let index = 200_000; index > 0; index -= 1) long.push({ id: `c${index}`, parent: `c${index - 1}` });
    expect(layoutLanes(long).width).toBe(1);
  });
});

describe("walking the graph", () => {
  const forked = list(["e", "b"], ["d", "c"], ["c", "b"], ["b", "a"], ["a"]);

  it("goes from a checkpoint back to the root", () => {
    expect([...pathTo(forked, "e")]).toEqual(["e", "b", "a"]);
    expect([...pathTo(forked, undefined)]).toEqual([]);
  });

  it("follows the branch of the selected checkpoint to its tip", () => {
    expect(branchThrough(forked, "c")).toEqual(["a", "b", "c", "d"]);
    expect(branchThrough(forked, "b")).toEqual(["a", "b", "e"]);
    expect(branchThrough(forked, "gone")).toEqual([]);
  });

  it("names the newest checkpoint that two branches share", () => {
    expect(commonAncestor(forked, "e", "d")).toBe("b");
    expect(commonAncestor(forked, "c", "d")).toBe("c");
    expect(commonAncestor(forked, "e", "x")).toBeUndefined();
  });
});
