import { describe, expect, it } from "vitest";
import type { Applied } from "../ipc/bindings/Applied";
import type { ApplyPatch } from "../ipc/bindings/ApplyPatch";
import { op } from "./patch";
import { Sync } from "./sync";

function harness() {
  const sent: ApplyPatch[] = [];
  const answers: { resolve: (applied: Applied) => void; reject: (problem: unknown) => void }[] = [];
  const timers: (() => void)[] = [];
  const reloads: string[] = [];
  const refused: unknown[] = [];
  const reopened: (() => void)[] = [];
  const caughtUp: (() => boolean | Promise<boolean>)[] = [];
  const sync = new Sync({
    send: (request) => {
      sent.push(request);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    },
    catchUp: async () => (await caughtUp.shift()?.()) ?? false,
    reload: async (graphId) => void reloads.push(graphId),
    onChange: () => {},
    onChecked: () => {},
    onRefused: (problem) => void refused.push(problem),
    reopen: () => new Promise((resolve) => reopened.push(() => resolve(true))),
    setTimer: (run) => {
      timers.push(run);
      return () => void timers.splice(timers.indexOf(run), 1);
    },
  });
  sync.open("g", 4, 4);
  return {
    sync,
    sent,
    answers,
    timers,
    reloads,
    refused,
    reopened,
    caughtUp,
    tick: () => timers.shift()?.(),
  };
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve));
const change = (from: number, to: number) => ({ ops: [op("node:a", { n: from }, { n: to })] });

describe("Sync", () => {
  it("tells places of nodes from what a graph does", () => {
    const { sync } = harness();
    const place = (to: number[]) => ({ ops: [op("layout:a", [0, 0], to)] });
    expect(sync.moved).toBe(false);
    sync.push(place([8, 8]));
    expect([sync.dirty, sync.moved]).toEqual([true, true]);
    sync.push(change(0, 1));
    expect([sync.dirty, sync.moved]).toEqual([true, false]);
  });

  it("does not know what a file lacks that was behind when it was opened, unless it was known before", () => {
    const { sync } = harness();
    const place = { ops: [op("layout:a", [0, 0], [8, 8])] };
    sync.open("g", 5, 4);
    sync.push(place);
    expect(sync.moved).toBe(false);
    sync.open("g", 5, 4, ["layout:b"]);
    expect(sync.moved).toBe(true);
    sync.saved(5);
    expect(sync.moved).toBe(false);
    sync.push(place);
    expect(sync.moved).toBe(true);
  });

  it("sends edits as one patch, and the next ones after the answer", async () => {
    const { sync, sent, answers, tick } = harness();
    sync.push(change(0, 1));
    sync.push(change(1, 2));
    expect(sync.dirty).toBe(true);
    tick();
    await settle();
    sync.push(change(2, 3));
    tick();
    await settle();
    expect(sent, "one at a time").toHaveLength(1);
    expect(sent[0]).toEqual({
      graphId: "g",
      baseRev: 4,
      ops: [{ id: "node:a", from: { n: 0 }, to: { n: 2 } }],
    });
    answers[0]?.resolve({ rev: 5, diagnostics: [], leads: {} });
    await settle();
    expect(sent[1]?.baseRev).toBe(5);
    answers[1]?.resolve({ rev: 6, diagnostics: [], leads: {} });
    await sync.flush();
    expect(sync.settled).toBe(true);
    expect(sync.dirty).toBe(true);
    sync.saved(6);
    expect(sync.dirty).toBe(false);
  });

  it("keeps edits while the connection is lost and sends them again, in order", async () => {
    const { sync, sent, answers, tick, refused, reloads } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    sync.push(change(1, 2));
    answers[0]?.reject({ code: "no-connection", message: "gone" });
    await settle();
    expect(refused).toEqual([]);
    expect(reloads).toEqual([]);
    tick();
    await settle();
    expect(sent.at(-1)?.ops).toEqual([{ id: "node:a", from: { n: 0 }, to: { n: 2 } }]);
  });

  it("puts what waits on top of what was changed elsewhere, and sends it again", async () => {
    const { sync, sent, answers, tick, reloads, refused, caughtUp } = harness();
    caughtUp.push(() => {
      expect(sync.waiting.ops).toEqual(change(0, 2).ops);
      sync.rebased(9, 9, change(5, 2));
      return true;
    });
    sync.push(change(0, 1));
    tick();
    await settle();
    sync.push(change(1, 2));
    answers[0]?.reject({ code: "conflict", message: "changed" });
    await settle();
    expect(sent.at(-1)).toMatchObject({ baseRev: 9, ops: change(5, 2).ops });
    expect([reloads, refused]).toEqual([[], []]);
  });

  it("keeps what waits when what was changed elsewhere can't be read", async () => {
    const { sync, sent, answers, tick, reloads, caughtUp } = harness();
    caughtUp.push(() => Promise.reject(new Error("no connection")));
    sync.push(change(0, 1));
    tick();
    await settle();
    answers[0]?.reject({ code: "conflict", message: "changed" });
    await settle();
    expect([sync.settled, reloads]).toEqual([false, []]);
    tick();
    await settle();
    expect(sent).toHaveLength(2);
  });

  it("takes the host's document when a patch is refused and nothing there is newer", async () => {
    const { sync, answers, tick, reloads, refused } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    answers[0]?.reject({ code: "conflict", message: "changed" });
    await settle();
    expect(reloads).toEqual(["g"]);
    expect(refused).toHaveLength(1);
    expect(sync.settled).toBe(true);
  });

  it("opens the document again when the host was started again, and sends what waits under its new id", async () => {
    const { sync, sent, answers, tick, refused, reloads, reopened } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    answers[0]?.reject({ code: "not-found", message: "No graph with id g is open." });
    await settle();
    expect(sync.settled, "the edit is not thrown away").toBe(false);
    expect([...sync.touched]).toEqual(["node:a"]);
    sync.openAgain("h", 0, 0);
    sync.push(change(0, 1));
    reopened[0]?.();
    await settle();
    expect(sent.at(-1)).toMatchObject({ graphId: "h", baseRev: 0, ops: [{ id: "node:a", to: { n: 1 } }] });
    answers[1]?.resolve({ rev: 1, diagnostics: [], leads: {} });
    await sync.flush();
    expect(sync.rev).toBe(1);
    expect(refused).toEqual([]);
    expect(reloads).toEqual([]);
  });

  it("ignores what a request of before the new opening says", async () => {
    const { sync, answers, tick } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    sync.openAgain("g", 7, 4);
    answers[0]?.reject({ code: "no-connection", message: "gone" });
    await settle();
    expect(sync.settled).toBe(true);
    expect(sync.rev).toBe(7);
  });

  it("keeps edits while the host does not know this browser", async () => {
    const { sync, sent, answers, tick, reloads } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    answers[0]?.reject({ code: "unauthorized", message: "the token is missing" });
    await settle();
    tick();
    await settle();
    expect(sent).toHaveLength(2);
    expect(reloads).toEqual([]);
  });

  it("forgets what was changed once the file holds it", () => {
    const { sync } = harness();
    sync.openAgain("g", 5, 4);
    sync.saved(5);
    expect(sync.touched.size).toBe(0);
  });
});
