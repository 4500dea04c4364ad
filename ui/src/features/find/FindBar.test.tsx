// @vitest-environment jsdom
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { findIds } from "../../lib/testIds";
import { FindBar } from "./FindBar";
import { useReplaceQuestion } from "./replace";
import type { Hit } from "./rows";
import { useFind } from "./search";

const hit: Hit = {
  graphId: null,
  path: "/graphs/other.json",
  record: "node:a",
  pointer: "/title",
  kind: "assign",
  disabled: false,
  label: "Title",
  where: "names",
  shown: { before: "", text: "customer", after: "" },
  line: 1,
  replaced: "guest",
  named: false,
  index: 0,
  role: null,
};

it("a press on Replace all while a search runs counts when it has ended", () => {
  useFind.setState({ replacing: true, found: { files: [] } as never, work: "search-2" });
  render(<FindBar hits={[hit]} />);
  fireEvent.click(screen.getByTestId(findIds.replaceAll));
  expect(useReplaceQuestion.getState().question).toBeNull();
  act(() => useFind.setState({ work: null }));
  expect(useReplaceQuestion.getState().question?.files).toEqual(["/graphs/other.json"]);
});
