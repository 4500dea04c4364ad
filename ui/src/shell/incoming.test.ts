// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";
import { pngWithGraph, svgWithGraph } from "../canvas/picture/carried";
import { replaceHost } from "../ipc/client";
import { showToast } from "../state/toasts";
import { fakeHost } from "../test/fakeHost";
import { takeFile } from "./incoming";

vi.mock("../state/toasts", () => ({ showToast: vi.fn(), showProblem: vi.fn() }));
const asked = vi.fn();

beforeEach(() => {
  const host = fakeHost(new Map());
  replaceHost({
    ...host,
    rpc: (command, request, signal) => {
      if (command === "graph.new") asked(request);
      return host.rpc(command, request, signal);
    },
  });
  asked.mockClear();
  vi.mocked(showToast).mockClear();
});

const graph = '{"format":"superstep/1","name":"Carried","nodes":{}}';
const pixel = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="),
  (letter) => letter.charCodeAt(0),
);
const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';

/** jsdom's files have no bytes to give. */
const file = (name: string, content: string | Uint8Array): File => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return { name, size: bytes.length, arrayBuffer: () => Promise.resolve(buffer) } as unknown as File;
};
const said = () => vi.mocked(showToast).mock.calls.map(([note]) => note.text);

it.each([
  ["a PNG", file("a.png", pngWithGraph(pixel, graph))],
  ["an SVG", file("a.svg", svgWithGraph(svg, graph))],
  ["a picture with another ending", file("a.txt", pngWithGraph(pixel, graph))],
  ["a graph file", file("graph.json", graph)],
])("opens the graph of %s as a new one", async (_, each) => {
  await takeFile(each);
  expect(asked).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ text: graph }));
  expect(said()).toEqual([`Opened the graph of “${each.name}”`]);
});

it.each([
  ["a picture without one", file("cat.png", pixel), "carries no graph"],
  ["a picture with something else in it", file("a.png", pngWithGraph(pixel, "alert(1)")), "is damaged"],
  [
    "a picture with a list in it",
    file("a.svg", svgWithGraph(svg, '[{"format":"superstep/1"}]')),
    "is damaged",
  ],
  ["half a picture", file("a.png", pngWithGraph(pixel, graph).subarray(0, 60)), "is damaged"],
  ["the work of another builder", file("flow.json", '{"graphs":{"a":"./a.py:g"}}'), "made with LangGraph"],
  ["nodes", file("nodes.json", '{"format":"superstep/clip/1","nodes":{}}'), "holds nodes"],
  ["a thread", file("t.jsonl", '{"format":"superstep-thread/1"}\n{}\n'), "exported thread"],
  ["a document", file("report.pdf", Uint8Array.of(0x25, 0x50, 0x44, 0x46, 0xff)), "is not a graph"],
  ["nothing", file("empty.json", ""), "is not a graph"],
  ["a large file", { name: "big", size: 1e12 } as unknown as File, "larger than 128 MB"],
  [
    "a folder",
    { name: "folder", size: 0, arrayBuffer: () => Promise.reject(new Error("no")) } as unknown as File,
    "cannot be read",
  ],
])("says what %s is, and opens nothing", async (_, each, words) => {
  await takeFile(each);
  expect(said()).toEqual([expect.stringContaining(words)]);
  expect(asked).not.toHaveBeenCalled();
});
