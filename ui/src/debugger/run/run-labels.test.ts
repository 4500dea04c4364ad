import { expect, it } from "vitest";
import { labelsFor, labelsLine, labelsOf, textsOf, writeLabels } from "./run-labels";

it("reads tags between commas and an entry of metadata from each line", () => {
  const { labels, wrong } = labelsOf({
    tags: " nightly, eval ,,nightly",
    metadata: "customer = acme\n\nquery=a=b",
  });
  expect(labels).toEqual({ tags: ["nightly", "eval"], metadata: { customer: "acme", query: "a=b" } });
  expect(wrong).toBeUndefined();
});

it("names the first line that is no entry, and leaves it out", () => {
  for (const line of ["acme", "=acme", "customer="]) {
    const { labels, wrong } = labelsOf({ tags: "", metadata: `${line}\ncity=Oslo` });
    expect(wrong).toBe(line);
    expect(labels.metadata).toEqual({ city: "Oslo" });
  }
});

it("gives back the texts of what a thread has", () => {
  const labels = { tags: ["eval", "nightly"], metadata: { customer: "acme", city: "Oslo" } };
  expect(labelsOf(textsOf(labels))).toEqual({ labels, wrong: undefined });
  expect(labelsLine(labels)).toBe("eval · nightly · customer=acme · city=Oslo");
});

it("says nothing of a thread whose fields nobody touched", () => {
  writeLabels("/a.json", "t", { tags: "", metadata: "" });
  expect(labelsFor("/a.json", "u")).toEqual({});
  expect(labelsFor("/a.json", "t"), "emptied fields take them away").toEqual({
    labels: { tags: [], metadata: {} },
  });
  writeLabels("/a.json", null, { tags: "eval", metadata: "" });
  expect(labelsFor("/a.json", null)).toEqual({ labels: { tags: ["eval"], metadata: {} } });
  expect(labelsFor("/b.json", null)).toEqual({});
});
