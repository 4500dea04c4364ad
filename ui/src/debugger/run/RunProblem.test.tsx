// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { RunView } from "../../ipc/bindings/RunView";
import { replaceHost } from "../../ipc/client";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { RunProblem } from "./RunProblem";
import { receive } from "../model/events";

replaceHost(fakeHost(new Map()));
afterEach(cleanup);

const taken = "Another program took this thread over: the nightly import.";
const tell = (run: Partial<RunView>) =>
  act(() => receive([{ type: "run", run: { runId: "r", threadId: "t", startedAt: "", ...run } as RunView }]));

it("says that another program took the thread over, until the thread runs again", () => {
  useSession.getState().setCursor({ threadId: "t" });
  render(<RunProblem />);
  tell({ status: "running" });
  expect(screen.queryByRole("alert")).toBeNull();
  tell({ status: "stopped", endedAt: "2026-01-01", problem: { code: "superseded", message: taken } });
  expect(screen.getByRole("alert").textContent).toContain(taken);
  expect(screen.queryByRole("button")).toBeNull();
  tell({ runId: "s", status: "running" });
  expect(screen.queryByRole("alert")).toBeNull();
});
