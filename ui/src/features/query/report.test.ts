import { expect, it } from "vitest";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import type { NodeVisit } from "../../ipc/bindings/NodeVisit";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { fullTime } from "../../lib/intl";
import { momentsText, probeText, reconsiderText } from "./report";

const at = "2026-01-02T03:04:05Z";
const view = (value: unknown): ValueView => ({ kind: "number", bytes: 1, length: 1, value });
const place = { threadId: "t1", title: "Refund", checkpointId: "c7", step: 7, at };

it("reports what was searched for and each moment that was found", () => {
  const moment: MomentFound = {
    ...place,
    graphName: "Desk",
    status: "done",
    reason: "state",
    nodes: ["mail"],
    pointer: "/note",
    snippet: [
      { text: "it was ", hit: false },
      { text: "mailed", hit: true },
    ],
    columns: [{ value: view(12) }],
    more: 2,
  };
  const query = {
    words: "mailed",
    conditions: [
      { id: 1, kind: "where" as const, value: "state.n > 2" },
      { id: 2, kind: "column" as const, value: "state.total" },
    ],
  };
  expect(momentsText(query, ["state.total"], [moment], "12 threads searched")).toBe(
    [
      "# Find in threads",
      "",
      "- `mailed`",
      "- First step where: `state.n > 2`",
      "- Column: `state.total`",
      "",
      "1 moment · 12 threads searched",
      "",
      "| Thread | Step | Time | Moment | Match | `state.total` |",
      "| --- | --- | --- | --- | --- | --- |",
      `| Refund | 7 | ${fullTime(at)} | \`t1@c7\` | it was mailed · note · by mail · and 2 earlier steps | 12 |`,
    ].join("\n"),
  );
});

it("reports the values of a probe and what they come to", () => {
  const visit = (n: number): NodeVisit => ({ ...place, tasks: 1, result: { value: view(n) } });
  const text = probeText("check → retry", "state.n", [visit(3), visit(1)], "1 thread searched");
  expect(text).toContain("# Probe: check → retry\n\n`state.n` · 2 visits · 1 thread searched");
  expect(text).toContain("Values from 1 to 3, 2 on average");
  expect(text.split("\n").filter((line) => line.includes("`t1@c7`"))).toHaveLength(2);
});

it("reports both expressions and each decision that would change", () => {
  const text = reconsiderText(
    { edge: "check->retry", was: "state.n > 2", draft: "state.n > 3", answer: ["1 of 4 would change"] },
    [
      {
        ...place,
        status: "done",
        was: { to: ["retry"], packets: 2 },
        now: { to: [], packets: 0 },
        result: { value: view(0) },
      },
    ],
  );
  expect(text).toContain("- Before: `state.n > 2`\n- After: `state.n > 3`\n\n1 of 4 would change");
  expect(text).toContain("| `t1@c7` | retry ×2 | nowhere |");
});
