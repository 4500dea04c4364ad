/**
 * The blocks of a folder: graph files in its `blocks/`. What they hold is read once for each version of a file and kept
 * in this browser, because the host only reads a graph by opening it, which puts it among the recent ones.
 */
import { create } from "zustand";
import type { FileEntry } from "../ipc/bindings/FileEntry";
import { rpc } from "../ipc/client";
import { joinPath, splitPath } from "../lib/path";
import type { BlockText } from "./block";
import type { DocumentRecord } from "./document";
import { readGraphFile, writeGraph } from "./graph-files";
import { isObject } from "./types";

/** The folder of blocks, beside the graphs. */
export const BLOCKS = "blocks";
const STORE = "superstep.blocks";
/** Files that are read as soon as they are listed; others when they are looked at or added. */
const AT_ONCE = 8;

interface Content {
  readonly modified: string;
  readonly records: readonly DocumentRecord[];
}

export interface Block {
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly modified: string;
  /** Null until the file is read. */
  readonly records: readonly DocumentRecord[] | null;
}

type Contents = Readonly<Record<string, Content>>;

interface Blocks {
  /** The folder whose blocks these are, and not that of the blocks. */
  readonly folder: string | null;
  readonly blocks: readonly Block[];
}

export const useBlocks = create<Blocks>(() => ({ folder: null, blocks: [] }));

let contents: Contents = kept();

function kept(): Contents {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    const whole = ([, content]: [string, unknown]) => isObject(content) && Array.isArray(content["records"]);
    return Object.fromEntries(
      Object.entries(isObject(value) ? value : {}).filter(whole),
    ) as unknown as Contents;
  } catch {
    return {};
  }
}

function keep(next: Contents): void {
  contents = next;
  try {
    localStorage.setItem(STORE, JSON.stringify(next));
  } catch {
    // Without storage they last as long as the window.
  }
}

/** Was a file read or written as a block? Such a file is none of the graphs that somebody worked on. */
export const isBlock = (path: string): boolean => path in contents;

function blockAt(path: string, modified: string): Block {
  const content = contents[path];
  const records = content?.modified === modified ? content.records : null;
  const head = records?.find(({ id }) => id === "doc")?.value;
  const said = (field: string) => {
    const text = isObject(head) ? head[field] : undefined;
    return typeof text === "string" ? text : "";
  };
  const name = said("name") || splitPath(path).name.replace(/\.json$/, "");
  return { path, name, description: said("description"), modified, records };
}

/** The files of blocks; none when there is no folder of them. */
async function filesOf(folder: string, signal?: AbortSignal): Promise<readonly FileEntry[]> {
  const files = await rpc("files.list", { dir: joinPath(folder, BLOCKS) }, signal).catch(() => null);
  return (files?.entries ?? []).filter((entry) => entry.isGraph && !entry.isDir);
}

function show(folder: string, files: readonly FileEntry[]): readonly Block[] {
  const dir = joinPath(folder, BLOCKS);
  const gone = (path: string) => splitPath(path).dir === dir && !files.some((entry) => entry.path === path);
  if (Object.keys(contents).some(gone))
    keep(Object.fromEntries(Object.entries(contents).filter(([path]) => !gone(path))));
  const blocks = files.map(({ path, modified }) => blockAt(path, modified));
  useBlocks.setState({ folder, blocks });
  return blocks;
}

/** Lists the blocks of a folder again. */
export async function listBlocks(folder: string, signal?: AbortSignal): Promise<void> {
  const files = await filesOf(folder, signal);
  if (signal?.aborted) return;
  const unread = show(folder, files).filter(({ records }) => records === null);
  if (unread.length <= AT_ONCE) for (const block of unread) await readBlock(block).catch(() => undefined);
}

export const forgetBlocks = (): void => useBlocks.setState({ folder: null, blocks: [] });

const reading = new Map<string, Promise<readonly DocumentRecord[]>>();

/** What a block holds. */
export function readBlock({ path, modified, records }: Block): Promise<readonly DocumentRecord[]> {
  if (records !== null) return Promise.resolve(records);
  const key = `${path}\n${modified}`;
  const begun = reading.get(key) ?? readGraphFile(path).finally(() => reading.delete(key));
  reading.set(key, begun);
  return begun.then((found) => {
    keep({ ...contents, [path]: { modified, records: found } });
    useBlocks.setState(({ blocks }) => ({
      blocks: blocks.map((block) => (block.path === path ? blockAt(path, block.modified) : block)),
    }));
    return found;
  });
}

/** The file of a block, by the words of its name. */
export function blockPath(folder: string, name: string): string {
  const file = name
    .trim()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
  return joinPath(joinPath(folder, BLOCKS), `${file}.json`);
}

/** Writes a block to its file. Throws when there is one already that is not to be updated. */
export async function saveBlock(
  folder: string,
  { name }: BlockText,
  records: readonly DocumentRecord[],
  update: boolean,
): Promise<void> {
  const path = blockPath(folder, name);
  await writeGraph(path, name, records, update);
  const files = await filesOf(folder);
  const written = files.find((entry) => entry.path === path);
  if (written) keep({ ...contents, [path]: { modified: written.modified, records } });
  show(folder, files);
}
