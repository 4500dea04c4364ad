// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addNode, setField } from "../document/edits";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { undo } from "../document/undo";
import { replaceHost } from "../ipc/client";
import { structureIds } from "../lib/testIds";
import { announce } from "../state/announce";
import { useSession } from "../state/session";
import { FAKE_KINDS, fakeHost } from "../test/fakeHost";
import { Announcer } from "./Announcer";
import { newGraph } from "./files";

beforeEach(async () => {
  replaceHost(fakeHost());
  useSession.setState({ appInfo: { kinds: FAKE_KINDS } as never });
  await newGraph();
  vi.useFakeTimers();
  render(<Announcer />);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});
const said = () => {
  act(() => vi.advanceTimersByTime(400));
  return screen.getByTestId(structureIds.announcer).textContent?.trim();
};
const add = (name: string) =>
  edit("add", addNode(doc, { name, kind: "assign", config: {}, position: { x: 0, y: 0 } }));

it("says an edit once, and what was selected where nothing was edited", () => {
  add("one");
  useSession.getState().select({ nodes: ["one"] });
  expect(said()).toBe("Added one, Assign");
  useSession.getState().select({});
  expect(said()).toBe("");
  useSession.getState().select({ nodes: ["one"] });
  expect(said()).toBe("one, Assign");
  undo();
  expect(said()).toBe("Undone: Add");
});

it("leaves what is typed to the field it is typed in", () => {
  add("one");
  useSession.getState().select({ nodes: ["one"] });
  expect(said()).toBe("Added one, Assign");
  edit("title", setField(doc, "node:one", "/title", "A"), { merge: "title" });
  expect(said()).toBe("Added one, Assign");
});

it("says the same words again", () => {
  act(() => announce("Same"));
  const before = screen.getByTestId(structureIds.announcer).textContent;
  act(() => announce("Same"));
  const after = screen.getByTestId(structureIds.announcer).textContent;
  expect([before?.trim(), after?.trim()]).toEqual(["Same", "Same"]);
  expect(after).not.toBe(before);
});
