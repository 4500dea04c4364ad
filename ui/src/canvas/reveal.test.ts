// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useRuns } from "../debugger/model/runStore";
import type { TaskView } from "../ipc/bindings/TaskView";
import { useSession } from "../state/session";
import { useSelectedTask } from "./reveal";
import type { ViewHub } from "./view";

vi.mock("./scene", () => ({
  scene: { rect: (name: string) => ({ x: name === "far" ? 5000 : 0, y: 0, width: 200, height: 60 }) },
}));

const task = (id: string, node: string): TaskView => ({
  id,
  node,
  status: "done",
  interrupts: [],
  targets: [],
});

it("shows the node of a task that is selected elsewhere, once, and only when it is out of view", () => {
  const move = vi.fn();
  const hub = {
    viewport: { x: 0, y: 0, zoom: 1 },
    size: { width: 800, height: 600 },
    meets: ({ x }: { x: number }) => x < 800,
    move,
  } as unknown as ViewHub;
  const select = (taskId: string | null) =>
    act(() =>
      useSession.setState({ use: "debug", cursor: { threadId: "t", checkpointId: "c", taskId } as never }),
    );
  const show = (...tasks: TaskView[]) =>
    act(() =>
      useRuns.setState({
        shown: {
          place: { threadId: "t", checkpointId: "c" },
          era: 0,
          view: { tasks, previousTasks: [] } as never,
        },
      }),
    );
  renderHook(() => useSelectedTask(hub));
  show(task("1", "near"));
  select("1");
  expect(move).not.toHaveBeenCalled();
  // The step of the task comes after the selection.
  select("2");
  expect(move).not.toHaveBeenCalled();
  show(task("2", "far"));
  expect(move).toHaveBeenCalledTimes(1);
  show(task("2", "far"), task("1", "near"));
  expect(move, "it may be looked away from").toHaveBeenCalledTimes(1);
});
