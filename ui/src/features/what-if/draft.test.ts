import { expect, it } from "vitest";
import type { WhatIfGrid } from "../../ipc/bindings/WhatIfGrid";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import {
  copyRow,
  draftOf,
  gridOf,
  isReady,
  isWhole,
  linesOf,
  newChange,
  newRow,
  rowName,
  settingsOf,
  varied,
} from "./draft";
import { ordered } from "./order";

const GRID: WhatIfGrid = {
  rows: [
    {},
    { name: "more", values: { days: 5, note: "late" }, asNode: "plan" },
    { settings: { "/nodes/reply/config/prompt": "Short." }, model: "openai::x", input: { q: "Why?" } },
    { graph: { format: "superstep/1" } },
  ],
  repeat: 3,
  concurrency: 4,
  limit: { seconds: 60 },
  total: { cost: 0.5 },
  effects: { pay: "again" },
  scorer: { expression: "state.days" },
  keys: ["days"],
};

it("comes back from a draft as it went in", () => {
  expect(gridOf(draftOf(GRID))).toEqual(GRID);
  const judged: WhatIfGrid = {
    rows: [{}],
    scorer: { model: "m", rubric: "Be kind." },
    limit: {},
    total: {},
    effects: {},
  };
  expect(gridOf(draftOf(judged))).toEqual(judged);
});

it("is not ready before every change has a name and a value", () => {
  const draft = draftOf({ rows: [] });
  expect(isReady(draft)).toBe(false);
  const of = (...changes: Parameters<typeof newRow>) => ({ ...draft, rows: [newRow(...changes)] });
  expect(isReady(of())).toBe(true);
  expect(isReady(of([newChange("value", "")]))).toBe(false);
  expect(isReady(of([newChange("value", "days", 5)]))).toBe(true);
  expect(isWhole({ ...newChange("value", "days", 5), text: "five" })).toBe(false);
  expect(isWhole({ ...newChange("input"), text: "[1]" })).toBe(false);
  expect(isWhole({ ...newChange("input"), text: '{"q": 1}' })).toBe(true);
  expect(isReady({ ...of(), scorer: "model", judge: "m" })).toBe(false);
});

it("makes a row for each of several values, with the row's other changes", () => {
  const change = newChange("value", "days", 5);
  const row = { ...newRow([change, newChange("model", "", "m")]), name: "mine" };
  const rows = varied(row, change, linesOf("1\n\n 2 \n3"));
  const grid = gridOf({ ...draftOf({ rows: [] }), rows });
  expect(grid.rows).toEqual([1, 2, 3].map((days) => ({ values: { days }, model: "m" })));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(3);
  expect(copyRow(row).changes[0]?.id).not.toBe(change.id);
});

it("finds the settings of nodes as deep as they go", () => {
  const nodes = [["a/b", { kind: "model", config: { prompt: "Hi", script: [{ say: "yes" }] } }]] as const;
  expect(settingsOf(nodes)).toEqual([
    { pointer: "/nodes/a~1b/config/prompt", label: "a/b prompt", value: "Hi" },
    { pointer: "/nodes/a~1b/config/script/0/say", label: "a/b script 0 say", value: "yes" },
  ]);
  expect(settingsOf([["x", null]])).toEqual([]);
});

it("is called by its changes", () => {
  expect(rowName(newRow(), "No change")).toBe("No change");
  const change = newChange("setting", "/nodes/reply/config/prompt", "Short.");
  expect(rowName(newRow([change]), "")).toBe('reply prompt = "Short."');
  const days = newChange("value", "days", 3);
  expect(rowName(newRow([days, newChange("value", "note", "3")]), ""), "a number is no text").toBe(
    'days = 3, note = "3"',
  );
  expect(rowName(newRow([{ ...days, text: "[1," }]), ""), "not yet a value").toBe("days = [1,");
  expect(rowName(newRow([newChange("model", "", "openai::x")]), "")).toBe("openai::x");
});

it("orders results by score, the best first, and those without last", () => {
  const result = (row: number, score?: unknown) => ({ row, repeat: 0, score, cost: [] });
  const results = [result(0), result(1, 2), result(2, 9), result(3, true)];
  const grid = { names: [], results } as unknown as WhatIfView;
  expect(ordered(grid, "score").map(({ row }) => row)).toEqual([2, 1, 3, 0]);
  expect(ordered(grid, "row").map(({ row }) => row)).toEqual([0, 1, 2, 3]);
});
