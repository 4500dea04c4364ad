// @vitest-environment jsdom
import { expect, it } from "vitest";
import type { MenuEntry } from "../components/Menu";
import { withoutEdits } from "./CanvasMenu";

const entry = (id: string): MenuEntry => ({ id, label: id, run: () => {} });
const line = (id: string): MenuEntry => ({ id, separator: true });

it("offers nothing that edits a graph that was seen", () => {
  const all = [
    line("s0"),
    entry("edit.rename"),
    { id: "kind", heading: "Kind" },
    entry("form-when"),
    line("s1"),
    entry("edit.copy"),
    entry("edit.cut"),
    line("s2"),
    entry("graph.extract"),
    line("s3"),
    entry("debug.runTo"),
    entry("before"),
    entry("invariants.add"),
    line("s4"),
    entry("edit.delete"),
    entry("delete"),
  ];
  expect(withoutEdits(all).map(({ id }) => id)).toEqual(["edit.copy", "s2", "debug.runTo", "before"]);
});
