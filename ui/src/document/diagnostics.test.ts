// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import type { GraphView } from "../ipc/bindings/GraphView";
import { replaceHost } from "../ipc/client";
import { setWords } from "../lib/texts";
import { useSpoken } from "../state/language";
import { fakeHost } from "../test/fakeHost";
import { useSession } from "../state/session";
import type { AppInfo } from "../ipc/bindings/AppInfo";
import { closeGraph, openGraph } from "./open-graph";
import { useDocumentState } from "./store";

replaceHost(fakeHost());

const view: GraphView = {
  graphId: "g",
  name: "Graph",
  records: [{ id: "doc", value: { format: "superstep/1" } }],
  rev: 1,
  savedRev: 1,
  leads: {},
  diagnostics: [
    {
      code: "no-kind",
      severity: "error",
      record: "node:a",
      message: "Node `a` has no `kind`.",
      remedy: "Remove it.",
      texts: { message: { pattern: "Node `{id}` has no `kind`.", args: { id: "a" } } },
    },
  ],
};

const said = () => useDocumentState.getState().diagnostics.map(({ message, remedy }) => [message, remedy]);

function speak(words: Record<string, string> | null): void {
  setWords(
    words && {
      texts: {},
      commandNames: {},
      kindAliases: {},
      backends: {},
      rust: (english: string) => words[english],
    },
  );
  useSpoken.setState({ spoken: words ? "zh" : "en" });
}

const chinese = { "Node `{id}` has no `kind`.": "节点 `{id}` 没有 `kind`。", "Remove it.": "将其删除。" };

afterEach(() => speak(null));

it("calls the start and settings as the window does", async () => {
  const empty = (setting: string, pointer: string) => ({
    code: "empty-setting",
    severity: "error" as const,
    record: "node:a",
    pointer,
    message: `${setting} is empty.`,
    remedy: "Fill it in.",
    texts: { message: { pattern: "{setting} is empty.", args: { setting } } },
  });
  const schema = {
    properties: {
      into: { title: "Output key" },
      ways: { title: "Ways", items: { properties: { when: { title: "Condition" } } } },
    },
  };
  useSession.setState({
    appInfo: { kinds: [{ kind: "router", configSchema: schema }] } as unknown as AppInfo,
  });
  openGraph({
    ...view,
    graphId: "labels",
    records: [...view.records, { id: "node:a", value: { kind: "router", config: { ways: [{}] } } }],
    diagnostics: [
      empty("`into`", "/config/into"),
      empty("`ways.0.when`", "/config/ways/0/when"),
      empty("`other`", "/elsewhere"),
      {
        ...empty("", "/config/into"),
        message: "The setting `into` is missing.",
        texts: { message: { pattern: "The setting `{name}` is missing.", args: { name: "into" } } },
      },
      {
        code: "no-entry",
        severity: "error",
        record: "doc",
        message: "The graph has no entry: no edge begins at `__start__`.",
        remedy: "Add a node and connect the start to it.",
      },
    ],
  });
  expect(said().map(([message]) => message)).toEqual([
    "“Output key” is empty.",
    "“Ways · 1 · Condition” is empty.",
    "`other` is empty.",
    "The setting “Output key” is missing.",
    "The graph has no entry: no edge begins at Start.",
  ]);
  await closeGraph();
});

it("says the problems of the open graph in the language, and again when another one is spoken", async () => {
  speak(chinese);
  openGraph(view);
  expect(said()).toEqual([["节点 `a` 没有 `kind`。", "将其删除。"]]);
  speak(null);
  expect(said()).toEqual([["Node `a` has no `kind`.", "Remove it."]]);
  speak(chinese);
  expect(said()).toEqual([["节点 `a` 没有 `kind`。", "将其删除。"]]);
  const { byRecord } = useDocumentState.getState();
  expect(byRecord.get("node:a")?.[0]?.message).toBe("节点 `a` 没有 `kind`。");
  await closeGraph();
  speak(null);
  expect(said(), "a closed graph has none").toEqual([]);
});
