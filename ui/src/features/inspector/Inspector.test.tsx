// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { doc } from "../../document/store";
import { NOTE } from "../../document/types";
import { replaceHost } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { edgeSentence } from "./describe";
import { LastRun } from "../node-test";
import { Inspector } from "./Inspector";

beforeEach(() => {
  replaceHost(fakeHost());
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "node:b", value: { kind: "assign", config: {} } },
    { id: "node:words", value: { kind: NOTE, config: { text: "Read me" } } },
  ]);
});
afterEach(cleanup);

const select = (...nodes: string[]) => act(() => useSession.getState().select({ nodes }));

describe("the inspector", () => {
  it("shows another node from its beginning, and keeps its scroll while that stays selected", () => {
    render(<Inspector LastRun={LastRun} />);
    select("a");
    const inspector = screen.getByTestId(formsIds.inspector);
    inspector.scrollTop = 300;
    select("a");
    expect(inspector.scrollTop).toBe(300);
    select("b");
    expect(inspector.scrollTop).toBe(0);
  });

  it("has nothing about runs for a note", () => {
    render(<Inspector LastRun={LastRun} />);
    select("a");
    expect(screen.queryByText(t("forms.policy"))).not.toBeNull();
    expect(screen.queryByText(t("debug.breakpoints"))).not.toBeNull();
    expect(screen.queryByTestId(formsIds.askForTest)).not.toBeNull();
    select("words");
    expect(screen.queryByText(t("forms.policy"))).toBeNull();
    expect(screen.queryByText(t("debug.breakpoints"))).toBeNull();
    expect(screen.queryByTestId(formsIds.askForTest)).toBeNull();
  });
});

it("a join of one source has one source to wait for", () => {
  expect(edgeSentence({ from: ["check"], to: "b" })).toBe("b runs when check has finished.");
  expect(edgeSentence({ from: ["check", "a"], to: "b" })).toBe(
    "b runs once, when check and a have all finished.",
  );
});
