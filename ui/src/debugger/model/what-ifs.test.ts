import { beforeEach, expect, test } from "vitest";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfStatus } from "../../ipc/bindings/WhatIfStatus";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { gridProgress, noteGrid, seeGrid, useGrids } from "./what-ifs";

const grid = (id: string, statuses: readonly WhatIfStatus[], more: Partial<WhatIfView> = {}): WhatIfView => ({
  id,
  threadId: "t",
  checkpointId: "c",
  step: 1,
  madeAt: "2026-01-01T00:00:00Z",
  instance: "",
  running: statuses.some((status) => status === "queued" || status === "running"),
  grid: { rows: [] },
  names: [],
  base: { followed: true, output: {} } as unknown as WhatIfView["base"],
  results: statuses.map((status, row): WhatIfResult => ({
    row,
    repeat: 0,
    status,
    output: {},
    changes: [],
    changed: 0,
    steps: 0,
    tokens: 0,
    cost: [],
    unpriced: false,
    millis: 0,
  })),
  ...more,
});

beforeEach(() =>
  useGrids.setState({ threads: new Map(), chosen: new Map(), unseen: new Set(), graphs: new Map() }),
);

const said = () => {
  const progress = gridProgress(useGrids.getState());
  return progress && [progress.grid.id, progress.running, `${progress.done}/${progress.total}`];
};

test("grids that run are counted together, and lead to the newest", () => {
  expect(said()).toBeNull();
  noteGrid(grid("a", ["done", "failed", "running", "queued"]), "graph");
  expect(said()).toEqual(["a", true, "2/4"]);
  noteGrid(grid("b", ["queued", "queued"], { threadId: "u", madeAt: "2026-01-02T00:00:00Z" }), "other graph");
  expect(said()).toEqual(["b", true, "2/6"]);
  expect(useGrids.getState().graphs.get("b")).toBe("other graph");
});

test("a grid that ended is said until it is looked at; one that was over before is not", () => {
  noteGrid(grid("old", ["done"]), null);
  expect(said()).toBeNull();
  noteGrid(grid("a", ["running"]), null);
  noteGrid(grid("a", ["done"]), null);
  expect(said()).toEqual(["a", false, "1/1"]);
  seeGrid("a");
  expect(said()).toBeNull();
});

test("a grid that was removed before it was looked at leads nowhere", () => {
  noteGrid(grid("a", ["running"]), null);
  noteGrid(grid("a", ["stopped"]), null);
  expect(said()).not.toBeNull();
  useGrids.setState({ threads: new Map() });
  expect(said()).toBeNull();
});
