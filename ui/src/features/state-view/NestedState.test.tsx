// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { replaceHost } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { fakeHost } from "../../test/fakeHost";
import { NestedState } from "./NestedState";

const view = (value: unknown) => ({ kind: "number", bytes: 1, length: 1, value });
const step = (number: number, state: Record<string, unknown>): WithinStep => ({
  checkpoint: {
    id: `c${number}`,
    at: "",
    source: "loop",
    step: number,
    next: ["opine"],
    updated: [],
    questions: 0,
    failed: 0,
  },
  tasks: [],
  state: Object.fromEntries(Object.entries(state).map(([key, value]) => [key, view(value)])),
});

afterEach(cleanup);

it("shows the state of the graph that the canvas shows, not that of the one around it", async () => {
  const asked: unknown[] = [];
  const host = fakeHost(new Map());
  replaceHost({
    ...host,
    rpc: (command, request, signal) => {
      if (command !== "thread.within") return host.rpc(command, request, signal);
      asked.push(request);
      const steps = [step(1, { cell: 7, heat: 40 }), step(0, { cell: 7, heat: 39 })];
      return Promise.resolve({ steps, more: false } as never);
    },
  });
  const levels = [
    { node: "zone", ns: "zone:1" },
    { node: "lane", ns: "zone:1|lane:2" },
  ];
  render(<NestedState threadId="t" levels={levels} />);
  const heat = await screen.findByText("heat");
  expect(asked[0]).toMatchObject({ threadId: "t", ns: "zone:1|lane:2" });
  const shown = screen.getByTestId(debugIds.nestedState);
  expect(shown.getAttribute("aria-label")).toContain("zone › lane");
  expect(shown.textContent).toContain("40");
  // What its last step changed comes first, and says so.
  expect(heat.closest("[data-changed]")).not.toBeNull();
  const keys = [...shown.querySelectorAll("dt")].map((key) => key.firstChild?.textContent);
  expect(keys).toEqual(["heat", "cell"]);
});
