import { expect, it } from "vitest";
import { describedKinds } from "../test/kinds";
import { likelyKind } from "./likely-kind";

const kinds = describedKinds();

it.each([
  ["modle", "model"],
  ["router ", "router"],
  ["llm", "model"],
  ["n8n-nodes-base.webhook", "http"],
  ["LlmNode", "model"],
  ["if", "router"],
])("%s is meant as %s", (unknown, kind) => {
  expect(likelyKind(kinds, unknown)?.kind).toBe(kind);
});

it.each(["", "x", "spreadsheet-of-doom", "z".repeat(5000), "__proto__"])("%s may be anything", (unknown) => {
  expect(likelyKind(kinds, unknown)).toBeUndefined();
});
