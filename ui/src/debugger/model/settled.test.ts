import { expect, it } from "vitest";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { notRetried, settledTask } from "./settled";

const task = (more: Partial<TaskView>): TaskView => ({
  id: "t",
  node: "n",
  status: "failed",
  error: "Error('no')",
  interrupts: [],
  targets: [],
  ...more,
});

it("shows a task that failed and then succeeded as done, with why it failed", () => {
  const result = { kind: "object", bytes: 2, length: 0, value: {} };
  expect(settledTask(task({ result }))).toMatchObject({ status: "done", error: "Error('no')" });
  expect(settledTask(task({})).status).toBe("failed");
});

it("says why a task was not tried again when the host does", () => {
  expect(notRetried({ ...task({}), notRetried: "not tried again" })).toBe("not tried again");
  expect(notRetried(task({}))).toBeUndefined();
});
