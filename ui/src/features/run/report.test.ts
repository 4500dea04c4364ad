import { expect, it } from "vitest";
import { effectKey } from "../../debugger/run/effects";
import type { EffectView } from "../../ipc/bindings/EffectView";
import type { GoOnReport } from "../../ipc/bindings/GoOnReport";
import { fullTime } from "../../lib/intl";
import { effectsText, hotEditText } from "./report";

const at = "2026-01-02T03:04:05Z";

it("reports each side effect with what was chosen for it", () => {
  const effect: EffectView = {
    node: "book",
    path: ["desk"],
    effect: "once",
    kind: "http",
    times: 2,
    lastAt: at,
    state: "done",
    checkpointId: "c",
    result: { kind: "object", bytes: 13, length: 1, value: { booked: 7 } },
    reusable: true,
  };
  const asked = {
    going: "replay" as const,
    step: 20,
    list: { effects: [effect], questionsLeft: 1 },
    decide: () => undefined,
  };
  expect(effectsText(asked, { [effectKey(effect)]: "again" })).toBe(
    [
      "# Replay from step 20",
      "",
      "| Node | Side effect | Last time | Result | Choice |",
      "| --- | --- | --- | --- | --- |",
      `| desk › book ×2 | Must not be repeated (once) | done ${fullTime(at)} | {"booked":7} | Do it again |`,
      "",
      "1 question of the other branch keeps waiting.",
    ].join("\n"),
  );
});

it("reports what a changed graph means for a thread", () => {
  const report: GoOnReport = {
    tasks: [{ node: "old", path: [], change: "gone", candidates: ["new"] }],
    keys: [{ key: "n", change: "type", before: "integer", after: "string" }],
    questions: [],
    programs: ["tool.py"],
  };
  const text = hotEditText(report, { old: "new" });
  expect(text).toContain("## Next tasks\n\n- old: The node was removed. Run in its place: new");
  expect(text).toContain("## State keys\n\n- n: Type: integer → string");
  expect(text).not.toContain("## Questions");
  expect(text.endsWith("- tool.py")).toBe(true);
});
