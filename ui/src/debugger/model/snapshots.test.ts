import { describe, expect, it } from "vitest";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import { type Loaded, type Place, SnapshotLoader } from "./snapshots";

const view = (place: Place): SnapshotView => ({
  threadId: place.threadId,
  checkpoint: {
    id: place.checkpointId ?? "head",
    at: "",
    source: "loop",
    step: 1,
    next: [],
    updated: [],
    questions: 0,
    failed: 0,
  },
  isHead: place.checkpointId === null,
  keys: [],
  next: [],
  tasks: [],
  previousTasks: [],
  visits: [],
  taken: [],
});

/** A host whose requests are answered by hand and whose clock moves by hand. */
function host() {
  const open: {
    place: Place;
    signal: AbortSignal;
    answer: () => Promise<void>;
    fail: (why: unknown) => Promise<void>;
  }[] = [];
  const shown: (string | undefined)[] = [];
  const failures: unknown[] = [];
  const timers: { at: number; run: () => void }[] = [];
  let clock = 0;
  let loading = false;
  const loader = new SnapshotLoader({
    fetch: (place, signal) =>
      new Promise((resolve, reject) => {
        const settle = async (run: () => void) => {
          open.splice(
            open.findIndex((request) => request.signal === signal),
            1,
          );
          run();
          await Promise.resolve();
          await Promise.resolve();
          await Promise.resolve();
        };
        signal.addEventListener("abort", () => void settle(() => reject(new Error("aborted"))));
        open.push({
          place,
          signal,
          answer: () => settle(() => resolve(view(place))),
          fail: (why) => settle(() => reject(why)),
        });
      }),
    era: () => 1,
    shown: (loaded: Loaded | undefined) => shown.push(loaded && (loaded.place.checkpointId ?? "now")),
    loading: (value) => (loading = value),
    failed: (_place, problem) => failures.push(problem),
    now: () => clock,
    later: (run, millis) => timers.push({ at: clock + millis, run }),
  });
  const advance = (millis: number) => {
    clock += millis;
    for (const timer of timers.splice(0)) {
      if (timer.at <= clock) timer.run();
      else timers.push(timer);
    }
  };
  return { loader, open, shown, failures, advance, isLoading: () => loading };
}

const at = (checkpointId: string | null): Place => ({ threadId: "t", checkpointId });

describe("loading the moment under the cursor", () => {
  it("asks once, shows, and answers the second visit from the cache", async () => {
    const { loader, open, shown } = host();
    loader.want(at("a"));
    await open[0]?.answer();
    loader.want(at("b"));
    await open[0]?.answer();
    loader.want(at("a"));
    expect(open).toHaveLength(0);
    expect(shown).toEqual(["a", "b", "a"]);
  });

  it("keeps at most one request under way while the key is held, and ends at the last wish", async () => {
    const { loader, open, shown } = host();
    for (const id of ["a", "b", "c", "d", "e"]) {
      loader.want(at(id));
      expect(open.length).toBeLessThanOrEqual(1);
    }
    await open[0]?.answer();
    expect(open.map((request) => request.place.checkpointId)).toEqual(["e"]);
    await open[0]?.answer();
    expect(shown.at(-1)).toBe("e");
    expect(open).toHaveLength(0);
  });

  it("cancels a slow request that nobody waits for any more", async () => {
    const { loader, open, failures, advance } = host();
    loader.want(at("a"));
    const slow = open[0];
    advance(900);
    loader.want(at("b"));
    expect(slow?.signal.aborted).toBe(true);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(open.map((request) => request.place.checkpointId)).toEqual(["b"]);
    expect(failures).toEqual([]);
  });

  it("does not let a late answer of the past replace now", async () => {
    const { loader, open, shown } = host();
    loader.want(at("a"));
    loader.want(at(null));
    await open[0]?.answer();
    expect(shown).toEqual([]);
    await open[0]?.answer();
    expect(shown).toEqual(["now"]);
  });

  it("refreshes now during a run, but not with every event", async () => {
    const { loader, open, shown, advance } = host();
    loader.want(at(null));
    await open[0]?.answer();
    for (let index = 0; index < 10; index += 1) loader.touch("t");
    expect(open).toHaveLength(0);
    advance(200);
    expect(open).toHaveLength(1);
    loader.touch("t");
    await open[0]?.answer();
    expect(shown).toEqual(["now", "now"]);
    advance(200);
    expect(open, "what happened during the request is asked for after it").toHaveLength(1);
  });

  it("one slow answer holds up what follows for a second", async () => {
    const { loader, open, advance } = host();
    loader.want(at(null));
    advance(2000);
    await open[0]?.answer();
    loader.touch("t");
    advance(900);
    expect(open, "what takes long is not asked for at once").toHaveLength(0);
    advance(100);
    expect(open).toHaveLength(1);
  });

  it("shows the end of a run at once, also after a slow answer and while one is on its way", async () => {
    const { loader, open, advance } = host();
    loader.want(at(null));
    advance(2000);
    await open[0]?.answer();
    loader.touch("t");
    expect(open).toHaveLength(0);
    loader.touch("t", true);
    expect(open, "nothing is waited for").toHaveLength(1);
    loader.touch("t", true);
    await open[0]?.answer();
    expect(open, "what was read before the second end is read again").toHaveLength(1);
    await open[0]?.answer();
    advance(5000);
    expect(open, "the waiting reading of the first change was this one").toHaveLength(0);
  });

  it("leaves the cached past alone when its thread goes on", async () => {
    const { loader, open, advance } = host();
    loader.want(at("a"));
    await open[0]?.answer();
    loader.touch("t");
    advance(1000);
    expect(open).toHaveLength(0);
    loader.touch("other");
    expect(open).toHaveLength(0);
  });

  it("asks again after lost events, also for what was cached", async () => {
    const { loader, open } = host();
    loader.want(at("a"));
    await open[0]?.answer();
    loader.reset();
    expect(open).toHaveLength(1);
  });

  it("reports a failure once and recovers with the next wish", async () => {
    const { loader, open, failures, shown, isLoading } = host();
    loader.want(at("a"));
    await open[0]?.fail(new Error("gone"));
    expect(failures).toHaveLength(1);
    expect(isLoading()).toBe(false);
    expect(open).toHaveLength(0);
    loader.want(at("b"));
    await open[0]?.answer();
    expect(shown).toEqual(["b"]);
  });
});
