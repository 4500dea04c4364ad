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
  const problems: boolean[] = [];
  const sync = new Sync({
    send: (request) => {
      sent.push(request);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    },
    reload: async (graphId) => void reloads.push(graphId),
    onChange: () => {},
    onChecked: () => {},
    onProblem: (_problem, retrying) => void problems.push(retrying),
    setTimer: (run) => {
      timers.push(run);
      return () => void timers.splice(timers.indexOf(run), 1);
    },
  });
  sync.open("g", 4, 4);
  return { sync, sent, answers, timers, reloads, problems, tick: () => timers.shift()?.() };
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve));
const change = (from: number, to: number) => ({ ops: [op("node:a", { n: from }, { n: to })] });

describe("Sync", () => {
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
    const { sync, sent, answers, tick, problems, reloads } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    sync.push(change(1, 2));
    answers[0]?.reject({ code: "no-connection", message: "gone" });
    await settle();
    expect(problems).toEqual([true]);
    expect(reloads).toEqual([]);
    tick();
    await settle();
    expect(sent.at(-1)?.ops).toEqual([{ id: "node:a", from: { n: 0 }, to: { n: 2 } }]);
  });

  it("takes the host's document when a patch is refused", async () => {
    const { sync, answers, tick, reloads, problems } = harness();
    sync.push(change(0, 1));
    tick();
    await settle();
    answers[0]?.reject({ code: "conflict", message: "changed" });
    await settle();
    expect(reloads).toEqual(["g"]);
    expect(problems).toEqual([false]);
    expect(sync.settled).toBe(true);
  });
});
