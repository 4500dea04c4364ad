import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { useSession } from "../../state/session";
import { loadOlderCheckpoints } from "../model/checkpoints";
import { useRuns } from "../model/runStore";
import { keyOf } from "../state/selected-key";
import { firstMoment, momentAfter, nextAt, visitOf, writeOf } from "./walk";

const rpc = vi.hoisted(() => vi.fn());
vi.mock("../../ipc/client", () => ({ rpc, subscribe: () => () => {}, host: { watchConnection: () => {} } }));

/** Step n is made by the node before; the nodes take turns, and every third step writes `total`. */
const ALL: readonly CheckpointView[] = Array.from({ length: 12 }, (_, step) => ({
  id: `c${String(step).padStart(2, "0")}`,
  ...(step > 0 && { parent: `c${String(step - 1).padStart(2, "0")}` }),
  at: "",
  source: "loop",
  step,
  next: step === 11 ? [] : [step % 2 === 0 ? "a" : "b"],
  updated: step % 3 === 0 ? ["total"] : [],
  questions: 0,
  failed: 0,
})).toReversed();

const at = (checkpointId: string | null) =>
  useSession.setState({
    cursor: { threadId: "t", checkpointId },
    selection: { nodes: [], edges: [], key: null },
  });

beforeEach(() => {
  rpc.mockReset();
  useRuns.setState({
    checkpoints: new Map([["t", { list: ALL.slice(0, 6), more: true, state: "ready" }]]),
  });
  rpc.mockImplementation((_command: string, { before, limit }: { before: string; limit: number }) => {
    const from = ALL.findIndex((one) => one.id === before) + 1;
    const page = ALL.slice(from, from + Math.min(limit, 3));
    return Promise.resolve({ checkpoints: page, more: from + 3 < ALL.length });
  });
});

describe("walking", () => {
  it("finds the next place that holds in either direction", () => {
    expect(nextAt(["a", "b", "c"], 2, -1, (id) => id === "a")).toBe("a");
    expect(nextAt(["a", "b", "c"], 0, 1, (id) => id === "a")).toBeUndefined();
  });

  it("goes from visit to visit of a node and from write to write of a key", () => {
    at(null);
    expect(visitOf("a", -1)).toBe("c10");
    at("c10");
    expect(visitOf("a", -1)).toBe("c08");
    expect(visitOf("a", 1)).toBeUndefined();
    expect(writeOf("total", -1)).toBe("c09");
    expect(writeOf("nothing", -1)).toBeUndefined();
  });

  it("loads what is not here to get to a step, and no more", async () => {
    at(null);
    expect(await momentAfter(11)).toBeNull();
    expect(rpc).not.toHaveBeenCalled();
    expect(await momentAfter(4)).toBe("c04");
    expect(rpc).toHaveBeenCalledTimes(1);
    expect(await momentAfter(99)).toBeUndefined();
    expect(await firstMoment()).toBe("c00");
  });

  it("goes to a step while the list reads an older page for itself", async () => {
    at(null);
    const scrolled = loadOlderCheckpoints("t");
    expect(await momentAfter(2)).toBe("c02");
    await scrolled;
    expect(rpc, "each page once").toHaveBeenCalledTimes(2);
  });

  it("knows the key of a place", () => {
    expect([keyOf("/a~1b/0/x"), keyOf("/total"), keyOf(null), keyOf("~unset")]).toEqual([
      "a/b",
      "total",
      null,
      null,
    ]);
  });
});
