import { afterEach, expect, it } from "vitest";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { setWords, t } from "../lib/texts";
import { zh } from "../lib/texts/zh";
import { kindsAgain, spokenKinds } from "./kinds";

afterEach(() => setWords(null));

const delay: NodeKind = {
  kind: "delay",
  title: "Delay",
  summary: "Waits for a duration or until a time.",
  icon: "clock",
  group: "state",
  aliases: ["wait"],
  configSchema: {
    description: "Waits.",
    properties: {
      seconds: { title: "Duration (s)", default: "Delay", examples: ["Delay"] },
      title: { title: "Delay", enum: ["Delay"], "x-enum-labels": ["Delay"] },
    },
  },
  defaults: { seconds: "10" },
  card: [],
  inside: false,
};

it("gives kinds and their forms in the language, and values as they stand in files", () => {
  expect(spokenKinds([delay])).toEqual([delay]);
  setWords(zh);
  const [kind] = kindsAgain();
  const title = zh.rust("Delay");
  expect(title).toBeDefined();
  expect(kind?.title).toBe(title);
  expect(kind?.aliases.at(-1)).toBe("wait");
  expect(kind?.aliases.length).toBeGreaterThan(3);
  const fields = (kindsAgain()[0]!.configSchema as typeof delay.configSchema).properties;
  expect(fields.seconds.default).toBe("Delay");
  expect(fields.seconds.examples).toEqual(["Delay"]);
  expect(fields.title.enum).toEqual(["Delay"]);
  expect([fields.title.title, fields.title["x-enum-labels"]]).toEqual([title, [title]]);
  setWords(null);
  expect(kindsAgain()).toEqual([delay]);
});

it("says values to choose from in words, and keeps those that are none", () => {
  const choices = {
    language: { enum: ["javascript", "python"] },
    approval: { enum: ["changes", "all", null] },
    method: { enum: ["GET", "POST"] },
    remembers: { oneOf: [{ const: "run" }, { const: "thread", title: "The thread" }] },
    kind: { const: "run" },
  };
  const kind = { ...delay, configSchema: { properties: choices } };
  const labels = () => {
    const { properties } = spokenKinds([kind])[0]!.configSchema as { properties: typeof choices };
    const of = (schema: object) => (schema as Record<string, unknown>)["x-enum-labels"];
    const titles = properties.remembers.oneOf.map((each) => (each as { title?: string }).title);
    return [of(properties.language), of(properties.approval), of(properties.method), titles, properties.kind];
  };
  expect(labels()).toEqual([
    ["JavaScript", "Python"],
    ["Changes", "All", "nothing (null)"],
    ["GET", "POST"],
    ["Run", "The thread"],
    { const: "run" },
  ]);
  setWords(zh);
  expect(labels()[1]).toEqual(["更改", "全部", t("forms.type.null")]);
});
