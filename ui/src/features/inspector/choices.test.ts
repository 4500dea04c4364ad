import { expect, it } from "vitest";
import { relabelled } from "./choices";

it("an answer that is the label goes with it", () => {
  expect(relabelled({ label: "", value: "" }, "Yes")).toEqual({ label: "Yes", value: "Yes" });
  expect(relabelled({ label: "Yes", value: "Yes" }, "Approve")).toEqual({
    label: "Approve",
    value: "Approve",
  });
  // As other builders and older forms leave it.
  expect(relabelled({ label: "A", value: null }, "B")).toEqual({ label: "B", value: "B" });
  expect(relabelled({ label: "A" }, "B")).toEqual({ label: "B", value: "B" });
});

it("an answer of its own stays", () => {
  expect(relabelled({ label: "Yes", value: true, description: "pays" }, "Approve")).toEqual({
    label: "Approve",
    value: true,
    description: "pays",
  });
});
