// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { beginNode, endCalm, leaveField, useCalm } from "./reduced-motion";
import { useSession } from "./session";

beforeEach(endCalm);

describe("a new node", () => {
  it("is calm until a field is left, and only about the others then", () => {
    const { result } = renderHook(() => useCalm("a"));
    expect(result.current("/config/prompt")).toBe(false);
    act(() => beginNode("a"));
    expect(result.current("/config/prompt")).toBe(true);
    act(() => leaveField("a", "/config/prompt"));
    expect(result.current("/config/prompt")).toBe(false);
    expect(result.current("/config/prompt/0/label")).toBe(false);
    expect(result.current("/config/prompts")).toBe(true);
    expect(result.current("/config/into")).toBe(true);
  });

  it("is no longer so when a run is asked for, or another graph is open", () => {
    const { result } = renderHook(() => useCalm("a"));
    act(() => beginNode("a"));
    act(endCalm);
    expect(result.current("/config/into")).toBe(false);
    act(() => beginNode("a"));
    act(() => useSession.setState({ graphId: "other" }));
    expect(result.current("/config/into")).toBe(false);
  });

  it("says nothing of nodes that were there", () => {
    act(() => leaveField("b", "/config/into"));
    const { result } = renderHook(() => useCalm("b"));
    expect(result.current("/config/x")).toBe(false);
  });
});
