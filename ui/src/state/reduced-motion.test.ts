// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import {
  beginNode,
  beginPlace,
  endCalm,
  leaveField,
  leavePlace,
  useCalm,
  useCalmRecord,
} from "./reduced-motion";
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

  it("is calm as far as it is new: an item of a list, the form of an edge", () => {
    const { result } = renderHook(() => useCalm("a"));
    act(() => beginPlace("node:a", "/config/tools/1"));
    expect(result.current("/config/tools/1/http/url")).toBe(true);
    expect(result.current("/config/tools/0/http/url")).toBe(false);
    expect(result.current("/config/tools/10")).toBe(false);
    act(() => leaveField("a", "/config/tools/1/http/url"));
    expect(result.current("/config/tools/1/http/url")).toBe(false);
    act(() => beginPlace("node:a", "/config/tools/1"));
    expect(result.current("/config/tools/1/http/url"), "another one is there now").toBe(true);
    const edge = renderHook(() => useCalmRecord("edge:a->b"));
    act(() => beginPlace("edge:a->b", ""));
    expect(edge.result.current("/each")).toBe(true);
    act(() => leavePlace("edge:a->b", "/each"));
    expect([edge.result.current("/each"), edge.result.current("/as")]).toEqual([false, true]);
  });

  it("says nothing of nodes that were there", () => {
    act(() => leaveField("b", "/config/into"));
    const { result } = renderHook(() => useCalm("b"));
    expect(result.current("/config/x")).toBe(false);
  });
});
