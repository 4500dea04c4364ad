// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { replaceHost } from "../ipc/client";
import { fakeHost, fileRecords, type FakeHost } from "../test/fakeHost";
import { GraphDocument } from "./document";

const DIR = "/home/me/desk/blocks";
const graph = (name: string) => ({
  format: "superstep/1",
  name,
  description: `What ${name} does.`,
  nodes: { a: { kind: "assign" } },
});

/** Names of files in the folder of blocks, and when each was changed. */
let files: Map<string, string>;
let host: FakeHost;
/** As a window that was just opened: what it has read is what the browser kept. */
async function opened() {
  vi.resetModules();
  const client = await import("../ipc/client");
  client.replaceHost(host);
  return import("./block-files");
}
const asked = (command: string) => host.calls.filter((call) => call.command === command);

beforeEach(() => {
  localStorage.clear();
  files = new Map();
  host = fakeHost(new Map(), {
    "files.list": ({ dir }: { dir: string }) => ({
      dir,
      entries: [...files].map(([name, modified]) => ({
        name,
        path: `${dir}/${name}`,
        isDir: false,
        isGraph: name !== "data.json",
        modified,
      })),
    }),
  });
  const open = host.rpc;
  host.rpc = async (command, request, signal) => {
    const view = (await open(command, request, signal)) as never;
    if (command !== "graph.open") return view;
    const { path } = request as unknown as { path: string };
    return { ...(view as object), records: fileRecords(graph(path.slice(DIR.length + 1, -5))) } as never;
  };
  replaceHost(host);
});

describe("the blocks of a folder", () => {
  it("are its graph files, read once for each version of a file", async () => {
    files.set("ask.json", "1").set("retry.json", "1").set("data.json", "1");
    let { listBlocks, useBlocks, isBlock } = await opened();
    await listBlocks("/home/me/desk");
    const blocks = useBlocks.getState().blocks;
    expect(blocks.map(({ name, description }) => [name, description])).toEqual([
      ["ask", "What ask does."],
      ["retry", "What retry does."],
    ]);
    expect(blocks[0]?.records).toEqual(fileRecords(graph("ask")));
    expect(asked("graph.open")).toHaveLength(2);
    expect(host.documents.size).toBe(0);
    expect([isBlock(`${DIR}/ask.json`), isBlock("/home/me/desk/graph.json")]).toEqual([true, false]);

    ({ listBlocks, useBlocks } = await opened());
    files.set("retry.json", "2").delete("ask.json");
    await listBlocks("/home/me/desk");
    expect(useBlocks.getState().blocks.map(({ name }) => name)).toEqual(["retry"]);
    expect(asked("graph.open").map(({ request }) => request)).toEqual([
      { path: `${DIR}/ask.json` },
      { path: `${DIR}/retry.json` },
      { path: `${DIR}/retry.json` },
    ]);
    expect(Object.keys(JSON.parse(localStorage.getItem("superstep.blocks") ?? ""))).toEqual([
      `${DIR}/retry.json`,
    ]);
  });

  it("are read when they are looked at where there are many", async () => {
    for (let n = 0; n < 9; n += 1) files.set(`b${n}.json`, "1");
    const { listBlocks, readBlock, useBlocks } = await opened();
    await listBlocks("/home/me/desk");
    expect(asked("graph.open")).toEqual([]);
    const block = useBlocks.getState().blocks[3]!;
    expect([block.name, block.records]).toEqual(["b3", null]);
    await Promise.all([readBlock(block), readBlock(block)]);
    expect(asked("graph.open")).toHaveLength(1);
    expect(useBlocks.getState().blocks[3]?.description).toBe("What b3 does.");
  });

  it("stay open where they were open", async () => {
    files.set("ask.json", "1");
    const { listBlocks } = await opened();
    const { graphId } = (await host.rpc("graph.open", { path: `${DIR}/ask.json` })) as { graphId: string };
    const open = host.rpc;
    host.rpc = (command, request, signal) =>
      command === "graph.open" ? open("graph.get", { graphId }, signal) : open(command, request, signal);
    await listBlocks("/home/me/desk");
    expect(host.documents.has(graphId)).toBe(true);
  });

  it("that are saved are known without being read, and only updated when that is said", async () => {
    const { saveBlock, blockPath, useBlocks } = await opened();
    const path = blockPath("/home/me/desk", " Ask & retry! ");
    expect(path).toBe(`${DIR}/ask-retry.json`);
    expect(blockPath("/home/me/desk", "审批 2")).toBe(`${DIR}/审批-2.json`);
    files.set("ask-retry.json", "1");
    const records = fileRecords(graph("Ask & retry!"));
    const text = { name: "Ask & retry!", description: "" };
    await saveBlock("/home/me/desk", text, records, false);
    await saveBlock("/home/me/desk", text, records, true);
    expect(asked("graph.save").map(({ request }) => request)).toMatchObject([
      { path, overwrite: false },
      { path, overwrite: true },
    ]);
    expect(asked("graph.open")).toEqual([]);
    expect(useBlocks.getState().blocks).toMatchObject([{ name: "Ask & retry!", records }]);
    const written = asked("graph.apply")[0]?.request as { ops: { id: string; to: never }[] };
    const doc = new GraphDocument();
    doc.reset(written.ops.map(({ id, to }) => ({ id, value: to })));
    expect(doc.names("node")).toEqual(["a"]);
    expect(host.documents.size).toBe(0);
  });

  it("are none in a folder without them, and what a browser kept in another form is left out", async () => {
    localStorage.setItem("superstep.blocks", JSON.stringify({ [`${DIR}/ask.json`]: { modified: "1" } }));
    const failing = host.rpc;
    const { listBlocks, useBlocks } = await opened();
    files.set("ask.json", "1");
    await listBlocks("/home/me/desk");
    expect(useBlocks.getState().blocks[0]?.description).toBe("What ask does.");
    host.rpc = (command, request, signal) =>
      command === "files.list" ? Promise.reject(new Error("no folder")) : failing(command, request, signal);
    await listBlocks("/home/me/other");
    expect(useBlocks.getState()).toEqual({ folder: "/home/me/other", blocks: [] });
  });
});
