import { afterEach, describe, expect, it } from "vitest";
import {
  ago,
  bytes,
  count,
  day,
  duration,
  isOne,
  listed,
  momentText,
  number,
  setLocale,
  since,
} from "./intl";

const plain = (text: string) => text.replaceAll("\u202f", " ");
const NOW = Date.parse("2026-11-26T12:00:00Z");
const before = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

afterEach(() => setLocale("en", []));

describe("how numbers and times are written", () => {
  it("writes durations so that they can be compared", () => {
    expect([0.2, 12, 1240, 12_400, 75_000, 3_720_000].map((millis) => plain(duration(millis)))).toEqual([
      "<1 ms",
      "12 ms",
      "1.24 s",
      "12.4 s",
      "1 min 15 s",
      "1 h 02 min",
    ]);
  });
  it("parts groups of digits by a narrow space", () => {
    expect([count(1234567), bytes(1_234_567), number(0.123456789, { maximumSignificantDigits: 3 })]).toEqual([
      "1\u202f234\u202f567",
      "1.2\u202fMB",
      "0.123",
    ]);
  });
  it("says how long ago something was", () => {
    expect([0, 1, 5, 59, 60, 24 * 60, 3 * 24 * 60].map((minutes) => ago(before(minutes), NOW))).toEqual([
      "now",
      "1 minute ago",
      "5 minutes ago",
      "59 minutes ago",
      "1 hour ago",
      "1 day ago",
      "3 days ago",
    ]);
    expect([0, 5, 120].map((minutes) => since(before(minutes), NOW))).toEqual(["<1 min", "5 min", "2 hr"]);
    expect(ago("never", NOW)).toBe("");
  });
  it("writes the day for what is two weeks old, and leaves what is no time", () => {
    expect(ago(before(20 * 24 * 60), NOW)).toBe("Nov 6, 2026");
    expect([day("2026-01-05T12:00:00Z"), day("soon"), momentText("soon")]).toEqual([
      "Jan 5, 2026",
      "soon",
      "soon",
    ]);
  });
});

describe("the interface's language", () => {
  it("writes times and plurals in it", () => {
    setLocale("zh-CN", ["de-DE"]);
    expect([ago(before(5), NOW), since(before(5), NOW), ago(before(0), NOW)]).toEqual([
      "5分钟前",
      "5分钟",
      "现在",
    ]);
    expect(day("2026-01-05T12:00:00Z")).toBe("2026年1月5日");
    expect([isOne(1), isOne(2)]).toEqual([false, false]);
  });
  it("keeps the person's variety of it", () => {
    setLocale("en", ["de-DE", "en-GB"]);
    expect(day("2026-01-05T12:00:00Z")).toBe("5 Jan 2026");
    setLocale("en", ["de-DE", "C"]);
    expect(day("2026-01-05T12:00:00Z")).toBe("Jan 5, 2026");
    expect([isOne(1), isOne(0), isOne(2)]).toEqual([true, false, false]);
  });
});

it("joins things as the language does", () => {
  const joined = () =>
    (["comma", "or", "and", "space"] as const).map((join) => listed(["a", "b", "c"], join));
  setLocale("en", []);
  expect(joined()).toEqual(["a, b, c", "a, b, or c", "a, b, and c", "a b c"]);
  expect([listed([]), listed(["a"])]).toEqual(["", "a"]);
  setLocale("zh-CN", []);
  expect(joined()).toEqual(["a、b、c", "a、b或c", "a、b和c", "a b c"]);
  setLocale("en", []);
});
