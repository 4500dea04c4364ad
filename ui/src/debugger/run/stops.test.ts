// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { replaceHost } from "../../ipc/client";
import { useSession } from "../../state/session";
import type { Note } from "../../state/toasts";
import { fakeHost } from "../../test/fakeHost";
import { followStops, useStops } from "./stops";

const shown: Note[] = [];
vi.mock("../../state/toasts", () => ({
  showToast: (note: Note) => shown.push(note),
  showProblem: (thrown: unknown) => {
    throw thrown;
  },
}));

const host = fakeHost(new Map(), {
  "thread.get": () => ({ threadId: "t", title: "Refund", graphPath: "/g.json" }),
});
replaceHost(host);
followStops();

const run = (status: RunStatus, runId = "r", stopped = status === "paused") =>
  host.tell({
    type: "run",
    run: {
      runId,
      threadId: "t",
      status,
      startedAt: "",
      ...(stopped && { stop: { reason: "`retries` became 3", within: "" } }),
    },
  });
const look = (threadId: string | null, use: "debug" | "design" = "debug") =>
  useSession.setState({ use, cursor: { threadId, checkpointId: null } as never });
const marked = () => useStops.getState().stops.get("t");

beforeEach(() => {
  shown.length = 0;
  useStops.setState({ stops: new Map() });
  look(null);
});

it("reports a run that stopped while nobody looked, and leads there", async () => {
  run("paused");
  await vi.waitFor(() => expect(shown).toHaveLength(1));
  expect(shown[0]?.text).toContain("Refund");
  expect(shown[0]?.detail).toContain("retries became 3");
  expect(shown[0]?.action?.label).toBe("Show");
  expect(marked()).toMatchObject({ runId: "r", path: "/g.json" });
  // The same stop is reported once.
  run("paused");
  await new Promise((done) => setTimeout(done, 5));
  expect(shown).toHaveLength(1);
  look("t");
  expect(marked()).toBeUndefined();
});

it("says nothing of a thread that is looked at, of a step and of a pause", async () => {
  look("t");
  run("paused");
  look(null);
  run("paused", "r2", false);
  await new Promise((done) => setTimeout(done, 5));
  expect(shown).toEqual([]);
  expect(marked()).toBeUndefined();
});

it("reports it in another mode as well, and no longer when the run goes on", async () => {
  look("t", "design");
  run("paused", "r3");
  await vi.waitFor(() => expect(marked()?.path).toBe("/g.json"));
  run("running", "r4");
  expect(marked()).toBeUndefined();
});
