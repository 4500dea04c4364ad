// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import { doc } from "../document/store";
import { setWords } from "../lib/texts";
import { zh } from "../lib/texts/zh";
import { useSpoken } from "../state/language";
import { labelWidth } from "./geometry";
import { shownLabel, type Line } from "./lines";
import { scene } from "./scene";

const speak = (spoken: "en" | "zh") => {
  setWords(spoken === "zh" ? zh : null);
  useSpoken.setState({ spoken });
};

afterEach(() => speak("en"));

it("labels are in the language that is spoken, with the room that they need", () => {
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "node:b", value: { kind: "assign", config: {} } },
    { id: "edge:out", value: { from: "__start__", to: "a", each: "state.orders" } },
    { id: "edge:on", value: { from: "a", route: "state.x", paths: { on: "b" }, default: "__end__" } },
  ]);
  const words = (line: Line | undefined) =>
    line && [
      shownLabel(line.form, line.isDefault, line.label ?? ""),
      scene.ports(line.from).ports.find(({ part }) => part === line.part)?.title ?? null,
    ];
  const each = () => scene.line("out");
  const other = () => scene.line("on|default");
  expect([words(each()), words(other())]).toEqual([
    ["each state.orders", null],
    ["else", "else"],
  ]);
  const before = each()?.labelWidth;
  speak("zh");
  expect([words(each()), words(other())]).toEqual([
    ["每项 state.orders", null],
    ["否则", "否则"],
  ]);
  expect(each()?.labelWidth).toBe(labelWidth("每项 state.orders"));
  expect(each()?.labelWidth).not.toBe(before);
});

it("a Chinese sign takes the width of more than a letter", () => {
  expect(labelWidth("其他问题类")).toBeGreaterThan(labelWidth("others"));
});
