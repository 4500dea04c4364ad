import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { useSession } from "../../state/session";
import { useRuns } from "../model/runStore";
import { pace, pause, play, setSpeed, togglePlayback, usePlayback } from "./playback";
import { neighbour, trackOf } from "./walk";

vi.mock("../../ipc/client", () => ({
  rpc: () => new Promise(() => {}),
  subscribe: () => () => {},
  host: { watchConnection: () => {} },
}));

const BEGAN = Date.parse("2026-01-01T00:00:00Z");
/** When each of five checkpoints was made, in milliseconds; `x` parts from the third. */
const TIMES = [0, 500, 510, 9_000, 9_600];

const point = (id: string, parent: string | undefined, millis: number): CheckpointView => ({
  id,
  ...(parent !== undefined && { parent }),
  at: new Date(BEGAN + millis).toISOString(),
  source: "loop",
  step: 0,
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
});

const TRUNK = TIMES.map((millis, at) => point(`c${at}`, at === 0 ? undefined : `c${at - 1}`, millis));
const LIST = [point("x1", "x0", 20_000), point("x0", "c2", 19_000), ...TRUNK.toReversed()];

const cursor = () => useSession.getState().cursor.checkpointId;
const moveTo = (checkpointId: string | null) =>
  useSession.setState({ use: "debug", cursor: { threadId: "t", checkpointId } });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("window", new EventTarget());
  useRuns.setState({ checkpoints: new Map([["t", { list: LIST, more: false, state: "ready" }]]) });
  usePlayback.setState({ speed: 1 });
});
afterEach(() => {
  pause();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the pace", () => {
  it("is that of the run, neither too fast to be seen nor so slow that nothing happens", () => {
    const at = (from: number, to: number, speed: 1 | 4 | 16) =>
      pace(TRUNK[from]?.at ?? "", TRUNK[to]?.at ?? "", speed);
    expect(at(0, 1, 1)).toBe(500);
    expect(at(1, 2, 1)).toBe(250);
    expect(at(2, 3, 1)).toBe(2000);
    expect(at(2, 3, 4)).toBe(500);
    expect(at(1, 2, 16)).toBe(16);
    expect(pace("", "", 1)).toBe(250);
  });
});

describe("playing", () => {
  it("walks the branch from its beginning and stops at its end, which is now", () => {
    moveTo(null);
    play();
    expect(cursor(), "now is the end: it begins again").toBe("c0");
    vi.advanceTimersByTime(500);
    expect(cursor()).toBe("c1");
    vi.advanceTimersByTime(250);
    expect(cursor()).toBe("c2");
    vi.advanceTimersByTime(2000);
    expect(cursor()).toBe("x0");
    expect(usePlayback.getState().playing).toBe(true);
    vi.advanceTimersByTime(1000);
    expect(cursor(), "the newest checkpoint is now").toBeNull();
    expect(usePlayback.getState().playing).toBe(false);
  });

  it("goes on from a moment, on the branch that it is on", () => {
    moveTo("c4");
    // The branch of the cursor is the older one, although the newer also continues its third checkpoint.
    moveTo("c3");
    play();
    vi.advanceTimersByTime(600);
    expect(cursor()).toBe("c4");
    expect(usePlayback.getState().playing).toBe(false);
  });

  it("pauses when the person goes elsewhere or presses a key, and another speed counts at once", () => {
    moveTo("c0");
    play();
    moveTo("c2");
    expect(usePlayback.getState().playing).toBe(false);
    togglePlayback();
    setSpeed(16);
    vi.advanceTimersByTime(125);
    expect(cursor(), "of the branch that it was on").toBe("c3");
    window.dispatchEvent(Object.assign(new Event("keydown"), { key: "]" }));
    expect(usePlayback.getState().playing).toBe(false);
    vi.advanceTimersByTime(5000);
    expect(cursor()).toBe("c3");
  });
});

describe("the branch that is walked", () => {
  it("stays the same behind a fork and forward again", () => {
    moveTo("c4");
    expect(neighbour(-1)).toBe("c3");
    moveTo("c1");
    expect(neighbour(1)).toBe("c2");
    moveTo("c2");
    expect(neighbour(1), "where it came from, not the newest continuation").toBe("c3");
    moveTo("x0");
    expect(neighbour(1)).toBeNull();
    moveTo("c2");
    expect(neighbour(1)).toBe("x0");
  });

  it("is worked out once, however often the key repeats", () => {
    moveTo("c4");
    const track = trackOf(LIST, "c4");
    expect(trackOf(LIST, "c0")).toBe(track);
    expect(trackOf(LIST, "x0")).not.toBe(track);
    const grown = [point("x2", "x1", 21_000), ...LIST];
    expect(trackOf(grown, "x0").branch).toEqual(["c0", "c1", "c2", "x0", "x1", "x2"]);
  });
});
