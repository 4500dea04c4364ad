import { expect, it } from "vitest";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { knownLabels, toggled } from "./labels";

const thread = (tags: string[], metadata: Record<string, string> = {}) =>
  ({ labels: { tags, metadata } }) as unknown as ThreadView;

it("offers what the listed threads have, the most frequent first", () => {
  const threads = [thread(["eval"], { customer: "acme" }), thread(["nightly", "eval"]), {} as ThreadView];
  expect(knownLabels(threads).map(({ text }) => text)).toEqual(["eval", "customer=acme", "nightly"]);
});

it("adds to the filter and takes away again, until nothing is left", () => {
  const [tag, entry] = [
    { tags: ["eval"], metadata: {} },
    { tags: [], metadata: { customer: "acme" } },
  ];
  const both = toggled(toggled(null, tag), entry);
  expect(both).toEqual({ tags: ["eval"], metadata: { customer: "acme" } });
  expect(toggled(both, tag)).toEqual(entry);
  expect(toggled(toggled(both, tag), entry)).toBeNull();
  const other = { tags: [], metadata: { customer: "globex" } };
  expect(toggled(entry, other), "a key has one value").toEqual(other);
});
