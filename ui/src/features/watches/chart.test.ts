import { expect, it } from "vitest";
import type { WatchHistory } from "../../ipc/bindings/WatchHistory";
import { drawn } from "./chart";

const history = (values: readonly unknown[], steps: number): WatchHistory => ({
  changes: values.map((value, place) => ({
    checkpointId: `c${place}`,
    step: place,
    place,
    result: value === undefined ? { message: "no key" } : { value: { value } },
  })) as WatchHistory["changes"],
  steps,
  more: false,
});

it("draws numbers as steps to the end of the branch", () => {
  const { line, marks } = drawn(history([0, 10, 5], 5));
  expect(marks.map(({ x }) => x)).toEqual([0, 0.25, 0.5]);
  expect(line).toEqual([
    { x: 0, y: 1 },
    { x: 0.25, y: 1 },
    { x: 0.25, y: 0 },
    { x: 0.5, y: 0 },
    { x: 0.5, y: 0.5 },
    { x: 1, y: 0.5 },
  ]);
});

it("has marks and no line where a value is no number", () => {
  expect(drawn(history(["a", 1], 2)).line).toBeNull();
  expect(drawn(history([undefined, 1, 2], 3)).line?.[0], "a gap before the first value").toEqual({
    x: 0.5,
    y: 1,
  });
  expect(drawn(history([undefined], 3))).toMatchObject({ line: null });
  expect(
    drawn(
      history(
        Array.from({ length: 500 }, (_, n) => n),
        500,
      ),
    ).marks.length,
  ).toBeLessThanOrEqual(120);
});
