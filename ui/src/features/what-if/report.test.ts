import { expect, it } from "vitest";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { gridText } from "./report";

const result = (row: number, more: Partial<WhatIfResult> = {}): WhatIfResult => ({
  row,
  repeat: 0,
  status: "done",
  output: {},
  changes: [],
  changed: 0,
  steps: 2,
  tokens: 0,
  cost: [],
  unpriced: false,
  millis: 1_200,
  ...more,
});

it("reports the rows, how each ended and what is different", () => {
  const grid: WhatIfView = {
    id: "g",
    threadId: "t",
    checkpointId: "c",
    step: 5,
    madeAt: "2026-01-02T03:04:05Z",
    instance: "",
    running: false,
    grid: { rows: [{}, { values: { days: 5 } }] } as WhatIfView["grid"],
    names: ["No change", "days = 5"],
    base: { checkpointId: "b", followed: true, output: {} },
    results: [],
  };
  const results = [
    result(0),
    result(1, {
      changed: 1,
      changes: [
        {
          pointer: "/total",
          change: "changed",
          left: { kind: "number", bytes: 1, length: 1, value: 1 },
          right: { kind: "number", bytes: 1, length: 1, value: 2 },
        },
      ],
      tokens: 1_000,
      unpriced: true,
      score: 0.5,
    }),
  ];
  const text = gridText(grid, results);
  expect(text).toContain("# What if, from step 5\n\n- thread `t` · Step 5 · checkpoint `c`");
  expect(text).toContain("2. days = 5: `days` = `5`");
  expect(text).toContain("| 1 | No change | Done |  | Same as the base |");
  expect(text).toContain("| 2 | days = 5 | Done | 0.5 | total 1 → 2 |");
  expect(text).toContain("Incomplete: a model has no price.");
});
