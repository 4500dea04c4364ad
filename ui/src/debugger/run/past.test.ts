import { beforeEach, expect, it, vi } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { EffectList } from "../../ipc/bindings/EffectList";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { replaceHost } from "../../ipc/client";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { beforeNode, continueThread, go, primary, replayHere, runTo, runToCheckpoint, step } from "./actions";
import { decideEffects, useEffectsAsked } from "./effects";
import { useRuns } from "../model/runStore";

const shown: { text: string; detail?: string }[] = [];
vi.mock("../../state/toasts", () => ({
  showToast: (note: { text: string; detail?: string }) => shown.push(note),
  showProblem: (thrown: unknown) => {
    throw thrown;
  },
}));

let list: EffectList;
const host = fakeHost(new Map(), {
  "run.effects": () => list,
  "run.start": () => ({ runId: "r", threadId: "t", status: "running", startedAt: "" }),
});
replaceHost(host);
const started = () =>
  host.calls.filter(({ command }) => command === "run.start").map(({ request }) => request);

const checkpoint = (id: string, step: number, source = "loop"): CheckpointView => ({
  id,
  at: "",
  source,
  step,
  next: ["n"],
  updated: [],
  questions: 0,
  failed: 0,
});
const at = (checkpointId: string | null, newest = checkpoint("c2", 2)) => {
  useSession.setState({ graphId: "g", use: "debug", cursor: { threadId: "t", checkpointId } });
  const pages = { list: [newest, checkpoint("c1", 1)], more: false, state: "ready" as const };
  useRuns.setState({ checkpoints: new Map([["t", pages]]) });
};

beforeEach(() => {
  shown.length = 0;
  host.calls.length = 0;
  list = { effects: [], questionsLeft: 0 };
  useRuns.setState(useRuns.getInitialState(), true);
});

it("runs nothing by a key in the past, and says what there is to do", async () => {
  at("c1");
  await go();
  await step("over");
  await step("into");
  expect(started()).toEqual([]);
  expect(useSession.getState().cursor.checkpointId, "and moves nothing").toBe("c1");
  expect(shown).toHaveLength(3);
  expect(shown[0]?.detail).toContain("Ctrl+Shift+F5");
});

it("goes back to now by the primary button", async () => {
  at("c1");
  await primary();
  expect(useSession.getState().cursor).toEqual({ threadId: "t", checkpointId: null });
  expect(started()).toEqual([]);
});

it("replays at once when nothing would work again, and says which questions keep waiting", async () => {
  at("c1");
  list = { effects: [], questionsLeft: 2 };
  await replayHere();
  expect(started()).toMatchObject([{ action: { type: "replay", checkpointId: "c1" } }]);
  expect(started()[0]).not.toHaveProperty("effects");
  expect(shown[0]?.text).toContain("2 questions");
});

it("replays with the choices, and not at all when the person does not go on", async () => {
  at("c1");
  list.effects.push({
    node: "pay",
    path: [],
    effect: "once",
    kind: "tool",
    times: 1,
    lastAt: "",
    state: "done",
    checkpointId: "c2",
    reusable: true,
  });
  const cancelled = replayHere();
  await vi.waitFor(() => expect(useEffectsAsked.getState().asked?.step).toBe(1));
  decideEffects(null);
  await cancelled;
  expect(started()).toEqual([]);

  const replayed = replayHere();
  await vi.waitFor(() => expect(useEffectsAsked.getState().asked).not.toBeNull());
  decideEffects({});
  await replayed;
  expect(started()).toMatchObject([{ effects: { pay: "reuse" } }]);
});

it("replays nothing when now is shown", async () => {
  at(null);
  await replayHere();
  expect(started()).toEqual([]);
  expect(shown).toHaveLength(1);
});

it("asks what works again when the thread goes on after an edit, not after a pause", async () => {
  const asked = () => host.calls.filter(({ command }) => command === "run.effects").length;
  at(null);
  await continueThread("t");
  expect(asked()).toBe(0);
  at(null, checkpoint("c3", 3, "update"));
  await continueThread("t");
  expect(asked()).toBe(1);
});

/** The thread stands at a breakpoint. */
const paused = (checkpointId: string | null) => {
  at(checkpointId);
  const thread = { threadId: "t", status: "paused", next: ["n"] } as ThreadView;
  useRuns.setState({ threads: new Map([["t", thread]]) });
};

it("runs to a node with a stop of that run alone", async () => {
  paused(null);
  await runTo(beforeNode("pay"));
  expect(started()).toMatchObject([
    { action: { type: "continue" }, breakpoints: [{ when: "before", node: "pay", enabled: true }] },
  ]);
});

it("runs over an edge with a stop of that run alone", async () => {
  paused(null);
  await runTo([{ when: "edge", node: "check", to: "retry" }]);
  expect(started()).toMatchObject([
    { breakpoints: [{ when: "edge", node: "check", to: "retry", enabled: true }] },
  ]);
});

it("runs to the step of a checkpoint that is still to come", async () => {
  paused(null);
  await runToCheckpoint(checkpoint("c9", 9));
  expect(started()).toMatchObject([
    { action: { type: "continue" }, breakpoints: [{ when: "before", node: "n", condition: "run.step > 9" }] },
  ]);
});

it("runs from the moment that is shown until what was next at an earlier one is next again", async () => {
  paused("c1");
  await runToCheckpoint(checkpoint("c0", 0));
  expect(started()).toMatchObject([
    { action: { type: "replay", checkpointId: "c1" }, breakpoints: [{ when: "before", node: "n" }] },
  ]);
  expect(JSON.stringify(started())).not.toContain("run.step");
});

it("runs to the place of the checkpoint that is shown from now on", async () => {
  paused("c1");
  await runToCheckpoint(checkpoint("c1", 1));
  expect(started()).toMatchObject([{ action: { type: "continue" }, breakpoints: [{ node: "n" }] }]);
});
