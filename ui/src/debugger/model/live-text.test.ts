// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";

vi.mock("../../ipc/client", () => ({
  rpc: () => new Promise(() => {}),
  subscribe: () => () => {},
  RpcProblem: class RpcProblem extends Error {},
}));

const { useLive, useRuns } = await import("./runStore");
const { receive } = await import("./events");

const run = (status: "running" | "done"): AppEvent => ({
  type: "run",
  run: { runId: "r", threadId: "t", status, startedAt: "" },
});
const started = (taskId: string): AppEvent => ({
  type: "taskStarted",
  threadId: "t",
  taskId,
  node: "think",
  step: 1,
  at: 1,
});
const word = (taskId: string): AppEvent => ({
  type: "token",
  threadId: "t",
  taskId,
  node: "think",
  messageId: taskId,
  piece: { type: "text", text: "word " },
  at: 1,
});

beforeEach(() => useRuns.setState({ live: new Map() }));

it("wakes who shows tasks and runs when they change, and not with each word that streams in", () => {
  let drawn = 0;
  const live = renderHook(() => {
    drawn += 1;
    return useLive("t");
  }).result;
  act(() => receive([run("running"), started("a"), started("b")]));
  const begun = drawn;
  const before = live.current;
  expect(before?.tasks.size).toBe(2);
  for (let frame = 0; frame < 60; frame += 1) act(() => receive([word("a"), word("b")]));
  expect(drawn, "nothing was drawn for 120 words").toBe(begun);
  expect(live.current).toBe(before);
  expect(useRuns.getState().live.get("t")?.text.get("think"), "the canvas has the words").toContain(
    "word word",
  );

  act(() => receive([word("a"), started("c")]));
  expect(live.current?.tasks.size, "a task beside a word is seen").toBe(3);
  expect(before?.tasks.size, "and does not change what was shown before").toBe(2);
  act(() => receive([run("done")]));
  expect(live.current?.run?.status).toBe("done");
  expect([...(live.current?.tasks.values() ?? [])].map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => "waiting"),
  );
});
