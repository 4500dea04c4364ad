import { expect, it } from "vitest";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { begunText } from "./begun";

const thread = (threadId: string, title: string, createdAt: string) =>
  ({ threadId, title, graphName: "New graph", createdAt }) as ThreadView;

it("tells threads apart by when they began where their titles do not", () => {
  const list = [
    thread("1", "New graph", "2020-05-04T10:00:00Z"),
    thread("2", "b", "2020-05-04T10:01:00Z"),
    thread("3", "b", "2020-05-05T10:02:00Z"),
    thread("4", "A lamp arrived broken", "2020-05-06T10:00:00Z"),
    thread("5", "", "2020-05-07T10:00:00Z"),
  ];
  const threads = new Map(list.map((each) => [each.threadId, each]));
  const told = list.map((each) => begunText(each, threads));
  expect(told.map((text) => text !== "")).toEqual([true, true, true, false, true]);
  expect(new Set(told.filter((text) => text !== "")).size).toBe(4);
  expect(begunText(list[1]!, new Map([["2", list[1]!]])), "the only one").toBe("");
});
