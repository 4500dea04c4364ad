// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import type { MenuEntry } from "../components/Menu";
import { setField } from "../document/edits";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { replaceHost } from "../ipc/client";
import { t } from "../lib/texts";
import { fakeHost } from "../test/fakeHost";
import { historyEntries } from "./EditHistory";
import { newGraph } from "./files";

beforeEach(async () => {
  replaceHost(fakeHost());
  await newGraph();
  for (const name of ["one", "two", "three"]) edit(`name it ${name}`, setField(doc, "doc", "/name", name));
});

const shown = () =>
  historyEntries().map((entry) => {
    if ("heading" in entry) return `# ${entry.heading}`;
    if (!("label" in entry)) return "";
    return `${"checked" in entry ? "* " : ""}${entry.label}`;
  });
const choose = (label: string) => {
  const entry = historyEntries().find(
    (one): one is MenuEntry & { run(): void } => "run" in one && one.label === label,
  );
  if (!entry) throw new Error(`${label} is not listed`);
  entry.run();
};

it("lists the edits by name, the newest first, and where the graph is", () => {
  const done = `# ${t("shell.history.done")}`;
  const opened = t("shell.history.beginning");
  expect(shown()).toEqual([done, "* Name it three", "Name it two", "Name it one", opened]);
  choose("Name it one");
  expect(doc.name).toBe("one");
  const undone = `# ${t("shell.history.undone")}`;
  expect(shown()).toEqual([undone, "Name it three", "Name it two", done, "* Name it one", opened]);
  choose("Name it three");
  expect(doc.name).toBe("three");
  choose(t("shell.history.beginning"));
  expect(doc.name).toBe(t("shell.newName"));
  choose("Name it two");
  expect(doc.name).toBe("two");

  // Of many the newest are listed, and the earlier ones in a second go.
  for (let step = 0; step < 50; step += 1) edit(`step ${step}`, setField(doc, "doc", "/name", `n${step}`));
  expect(shown()).toHaveLength(32);
  choose(t("shell.history.more", { n: 22 }));
  expect(doc.name).toBe("n19");
});
