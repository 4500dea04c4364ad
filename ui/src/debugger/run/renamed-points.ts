/** Breakpoints under new names of nodes and state keys, in their places, conditions and log texts. Pure. */
import { renameKeyInText } from "../../document/key-edits";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";

type Points = readonly Breakpoint[];

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A node as a condition names it: in a comparison with the writer of a key or the node of a task. */
function renameNodeInText(text: string, from: string, to: string): string {
  const quoted = `(["'])${escaped(from)}\\`;
  const named = "(?:writer|task\\.node)";
  return text
    .replace(
      new RegExp(`(\\b${named}\\s*[!=]=\\s*)${quoted}2`, "g"),
      (_, before: string, quote: string) => `${before}${quote}${to}${quote}`,
    )
    .replace(
      new RegExp(`${quoted}1(\\s*[!=]=\\s*${named}\\b)`, "g"),
      (_, quote: string, after: string) => `${quote}${to}${quote}${after}`,
    );
}

/** The texts of a breakpoint, each through a function. */
function withTexts(point: Breakpoint, change: (text: string) => string): Breakpoint {
  const { condition, log } = point;
  return {
    ...point,
    ...(condition !== undefined && { condition: change(condition) }),
    ...(log !== undefined && { log: change(log) }),
  };
}

/** The same list when nothing in it is another. */
function mapped(points: Points, rename: (point: Breakpoint) => Breakpoint): Points {
  const next = points.map((point) => {
    const renamed = rename(point);
    return JSON.stringify(renamed) === JSON.stringify(point) ? point : renamed;
  });
  return next.some((point, at) => point !== points[at]) ? next : points;
}

/** Of one in a nested graph, whose nodes are in another file, only the path that leads there has names of this graph. */
export function withNode(points: Points, from: string, to: string): Points {
  return mapped(points, (point) => {
    if (point.within !== undefined) {
      const [first, ...rest] = point.within.split("/");
      return first === from ? { ...point, within: [to, ...rest].join("/") } : point;
    }
    return withTexts(
      {
        ...point,
        ...(point.node === from && { node: to }),
        ...(point.to === from && { to }),
      },
      (text) => renameNodeInText(text, from, to),
    );
  });
}

export function withKey(points: Points, from: string, to: string): Points {
  return mapped(points, (point) => {
    if (point.within !== undefined) return point;
    // At a key `old` is the value before, elsewhere the state before.
    const roots = point.when === "key" ? ["state"] : ["state", "old"];
    return withTexts({ ...point, ...(point.key === from && { key: to }) }, (text) =>
      roots.reduce((renamed, root) => renameKeyInText(renamed, from, to, root), text),
    );
  });
}
