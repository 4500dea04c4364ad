import { expect, it } from "vitest";
import { parseSpan, spanText, unitOf } from "./span";

it("reads lengths of time in units, as a count of the field's", () => {
  expect(parseSpan("2h", "s")).toBe(7200);
  expect(parseSpan("2 h 30 min", "s")).toBe(9000);
  expect(parseSpan("1,5 h", "min")).toBe(90);
  expect(parseSpan("3d", "min")).toBe(4320);
  expect(parseSpan("2 s", "ms")).toBe(2000);
  for (const text of ["", "h", "2 weeks", "2 h and more", "12", "-2 h", "1.5 ms"])
    expect(parseSpan(text, "s"), text).toBeNull();
  expect(parseSpan("90 s", "min"), "no whole number of minutes").toBeNull();
});

it("tells a count in larger units where that is read better", () => {
  expect(spanText(86_400, "s")).toBe("1\u202fd");
  expect(spanText(9000, "s")).toBe("2\u202fh 30\u202fmin");
  expect(spanText(60, "s")).toBe("");
  expect(spanText(2500, "ms")).toBe("2.5\u202fs");
  expect(spanText(Number.NaN, "s")).toBe("");
});

it("knows the unit by the name of a setting", () => {
  expect(["wait_s", "timeout_ms", "ttl_minutes", "limit", "s"].map(unitOf)).toEqual([
    "s",
    "ms",
    "min",
    undefined,
    undefined,
  ]);
});
