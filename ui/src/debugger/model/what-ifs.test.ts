import { beforeEach, expect, test, vi } from "vitest";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfStatus } from "../../ipc/bindings/WhatIfStatus";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { replaceHost } from "../../ipc/client";
import { fakeHost } from "../../test/fakeHost";
import { gridProgress, noteGrid, seeGrid, useGrids } from "./what-ifs";

/** What the workbench has of each thread. */
const stored = new Map<string, WhatIfView[]>();
replaceHost(
  fakeHost(new Map(), {
    "whatIf.list": ({ threadId }) => ({ grids: stored.get(threadId) ?? [] }),
  }),
);

/** Notes a grid as its start was answered; by `now` the workbench has it further. */
function begin(grid: WhatIfView, graphId: string | null, now = grid): void {
  const others = (stored.get(grid.threadId) ?? []).filter(({ id }) => id !== grid.id);
  stored.set(grid.threadId, [now, ...others]);
  noteGrid(grid, graphId);
}

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

beforeEach(() => {
  stored.clear();
  useGrids.setState({ threads: new Map(), chosen: new Map(), unseen: new Set(), graphs: new Map() });
});

const said = () => {
  const progress = gridProgress(useGrids.getState());
  return progress && [progress.grid.id, progress.running, `${progress.done}/${progress.total}`];
};

test("grids that run are counted together, and lead to the newest", () => {
  expect(said()).toBeNull();
  begin(grid("a", ["done", "failed", "running", "queued"]), "graph");
  expect(said()).toEqual(["a", true, "2/4"]);
  begin(grid("b", ["queued", "queued"], { threadId: "u", madeAt: "2026-01-02T00:00:00Z" }), "other graph");
  expect(said()).toEqual(["b", true, "2/6"]);
  expect(useGrids.getState().graphs.get("b")).toBe("other graph");
});

test("a grid that ended is said until it is looked at; one that was over before is not", () => {
  begin(grid("old", ["done"]), null);
  expect(said()).toBeNull();
  begin(grid("a", ["running"]), null);
  begin(grid("a", ["done"]), null);
  expect(said()).toEqual(["a", false, "1/1"]);
  seeGrid("a");
  expect(said()).toBeNull();
});

test("a grid that was removed before it was looked at leads nowhere", () => {
  begin(grid("a", ["running"]), null);
  begin(grid("a", ["stopped"]), null);
  expect(said()).not.toBeNull();
  useGrids.setState({ threads: new Map() });
  expect(said()).toBeNull();
});

test("rows that ended before the start of their grid was answered are counted", async () => {
  begin(grid("a", ["queued", "queued"]), "graph", grid("a", ["done", "running"]));
  expect(said()).toEqual(["a", true, "0/2"]);
  await vi.waitFor(() => expect(said()).toEqual(["a", true, "1/2"]));
});
