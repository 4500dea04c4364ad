// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GUARD_MS, useGuardOf } from "./useGuard";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("guards what comes from its first moment, each time that it comes, and not what was there", () => {
  const was = renderHook(() => useGuardOf(true));
  expect(was.result.current).toBe(false);
  const { result, rerender } = renderHook(({ shown }) => useGuardOf(shown), {
    initialProps: { shown: false },
  });
  for (let times = 0; times < 2; times += 1) {
    rerender({ shown: true });
    expect(result.current).toBe(true);
    act(() => vi.advanceTimersByTime(GUARD_MS - 1));
    expect(result.current).toBe(true);
    act(() => vi.advanceTimersByTime(1));
    expect(result.current).toBe(false);
    rerender({ shown: false });
    act(() => vi.advanceTimersByTime(0));
    expect(result.current).toBe(false);
  }
});
