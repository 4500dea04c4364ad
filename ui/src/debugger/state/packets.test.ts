import { describe, expect, it } from "vitest";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { FAILED_FIRST, filteredPackets, isMany, packetRows, sortedPackets } from "./packets";

const view = (value: unknown) => ({ kind: "object", bytes: 1, length: 1, value });
const task = (item: unknown, given: Partial<TaskView> = {}): TaskView => ({
  id: `task-${String(item)}`,
  node: "worker",
  status: "done",
  interrupts: [],
  targets: ["join"],
  packet: view({ item }),
  ...given,
});
const squares = (count: number) =>
  Array.from({ length: count }, (_, item) =>
    task(item, {
      result: view({ results: [{ item, v: item === 137 ? -5 : item * item }] }),
      millis: item % 7,
    }),
  );
const items = (rows: ReturnType<typeof packetRows>) => rows.map((row) => row.input);

describe("the packets of a step", () => {
  it("are found by what they wrote, however the minus is written", () => {
    const rows = packetRows(squares(200));
    for (const words of ["-5", "\u22125", "v: -5"])
      expect(items([...filteredPackets(rows, words)]), words).toEqual(["137"]);
    expect(filteredPackets(rows, "  ")).toHaveLength(200);
    expect(filteredPackets(rows, "nothing like it")).toEqual([]);
  });

  it("have what failed first, with its error, and then their order", () => {
    const rows = packetRows([
      task(0),
      task(1, { status: "failed", error: "CodeError('no\\nanswer')" }),
      task(2, { status: "waiting" }),
      task(3, { status: "asking", interrupts: [{ id: "i", value: { question: "Pay 3?" } }] }),
    ]);
    const sorted = sortedPackets(rows, FAILED_FIRST);
    expect(items([...sorted])).toEqual(["1", "3", "2", "0"]);
    expect(sorted.map((row) => row.result)).toEqual(["no answer", "Pay 3?", "", ""]);
    expect(items([...filteredPackets(rows, "failed")])).toEqual(["1"]);
  });

  it("have what was tried again after what failed, and are found by the errors of attempts", () => {
    const attempt = (n: number, error: string) => ({ attempt: n, error, waitMillis: 10 });
    const rows = packetRows([
      task(0),
      task(1, { attempts: [attempt(1, "CodeError('stopped after 1000 ms')")] }),
      task(2, {
        status: "running",
        attempts: [attempt(1, "HttpError('503')"), attempt(2, "HttpError('504')")],
      }),
      task(3, { status: "failed", error: "CodeError('no')", attempts: [attempt(1, "CodeError('no')")] }),
      task(4, { status: "running" }),
    ]);
    expect(items([...sortedPackets(rows, FAILED_FIRST)])).toEqual(["3", "1", "2", "4", "0"]);
    expect(rows.map((row) => row.retries)).toEqual([0, 1, 2, 1, 0]);
    expect(items([...filteredPackets(rows, "1000 ms")])).toEqual(["1"]);
    expect(items([...filteredPackets(rows, "504")])).toEqual(["2"]);
    const most = sortedPackets(rows, { column: "attempts", down: true });
    expect(items([...most]).slice(0, 1)).toEqual(["2"]);
  });

  it("are sorted by value where they are numbers, in both directions", () => {
    const rows = packetRows([task(10), task(9), task(-1)]);
    expect(items([...sortedPackets(rows, { column: "input", down: false })])).toEqual(["-1", "9", "10"]);
    expect(items([...sortedPackets(rows, { column: "input", down: true })])).toEqual(["10", "9", "-1"]);
    const times = sortedPackets(packetRows(squares(20)), { column: "millis", down: true });
    expect(times[0]?.task.millis).toBe(6);
    expect(times.at(-1)?.input).toBe("14");
  });

  it("show inputs of other shapes as they are", () => {
    const large = { kind: "object", bytes: 9000, length: 2, head: '{"a":' };
    const rows = packetRows([task({ a: 1, b: 2 }), task(0, { packet: large })]);
    expect(items(rows)).toEqual(["{a: 1, b: 2}", '{"a":…']);
    const [pull, other] = squares(2);
    expect(isMany([pull as TaskView, other as TaskView])).toBe(true);
    expect(isMany([pull as TaskView])).toBe(false);
  });
});
