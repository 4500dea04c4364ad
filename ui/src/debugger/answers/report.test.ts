import { expect, it } from "vitest";
import { previewsText } from "./report";
import { answerKey } from "./useAnswerPreviews";

it("reports where each choice leads; one that opens a form leads nowhere yet", () => {
  const choices = [
    { label: "Approve", value: true },
    { label: "Edit…", value: null, form: {} },
    { label: "Reject", value: false },
  ];
  const previews = new Map([
    [
      answerKey(true),
      {
        answer: true,
        steps: [
          [{ node: "pay", kind: "http", tasks: 1, effect: "once", earlier: { runs: 1, millis: 1_200 } }],
        ],
        end: { type: "done" as const },
      },
    ],
  ]);
  const text = previewsText({ text: "Pay?\nIt is a lot.", choices } as never, choices, previews);
  expect(text).toContain("> Pay?\n> It is a lot.");
  expect(text).toMatch(/\| Approve \| `true` \| pay \(once\) → End \| ≈ 1.20\ss \|/);
  expect(text).toContain("| Reject | `false` |  |  |");
  expect(text).not.toContain("Edit…");
});
