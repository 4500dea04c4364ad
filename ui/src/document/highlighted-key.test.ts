// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { doc } from "./store";
import { light, rolesOf, showKeysOf, useLitRole, useRoleOfKey } from "./highlighted-key";

beforeEach(() => {
  light(null);
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign" } },
    { id: "node:b", value: { kind: "assign" } },
    { id: "edge:a->b", value: { from: "a", to: "b", when: "state.x" } },
  ]);
});

describe("a key that is shown", () => {
  it("marks writers and readers apart, and conditions are read where their edge leaves", () => {
    expect([...rolesOf({ writers: ["node:a"], readers: ["node:b"] })]).toEqual([
      ["a", "writes"],
      ["b", "reads"],
    ]);
    expect([...rolesOf({ writers: ["node:a"], readers: ["edge:a->b"] })]).toEqual([["a", "both"]]);
    expect([...rolesOf({ writers: [], readers: ["edge:a->b"] })]).toEqual([["a", "reads"]]);
  });

  it("puts the others in the background, and nobody when no one uses it", () => {
    const role = renderHook(() => useLitRole("b")).result;
    expect(role.current).toBeNull();
    act(() => light({ writers: ["node:a"], readers: [] }));
    expect(role.current).toBe("none");
    act(() => light({ writers: ["node:a"], readers: ["node:b"] }));
    expect(role.current).toBe("reads");
    act(() => light({ writers: [], readers: [] }));
    expect(role.current).toBeNull();
  });
});

it("shows the keys of a node, and what it does with each", () => {
  const use = { writers: ["node:a", "node:b"], readers: ["node:b"] };
  const role = renderHook(() => useRoleOfKey(use)).result;
  expect(role.current).toBeNull();
  act(() => showKeysOf("a"));
  expect(role.current).toBe("writes");
  act(() => showKeysOf("b"));
  expect(role.current).toBe("both");
  act(() => showKeysOf("c"));
  expect(role.current, "a node that does not use it").toBeNull();
  act(() => showKeysOf(null));
});
