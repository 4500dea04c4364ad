/**
 * A host for looking at the interface without a workbench: it keeps documents in memory and runs nothing. Only
 * development (`?fake`) and tests use it; the production bundle does not contain it.
 */
import { GraphDocument } from "../document/document";
import { isObject, type Json } from "../document/types";
import type { AppEvent } from "../ipc/bindings/AppEvent";
import type { AppInfo } from "../ipc/bindings/AppInfo";
import type { Breakpoint } from "../ipc/bindings/Breakpoint";
import type { Breakpoints } from "../ipc/bindings/Breakpoints";
import type { ChangeBreakpoints } from "../ipc/bindings/ChangeBreakpoints";
import type { EventBatch } from "../ipc/bindings/EventBatch";
import type { GraphView } from "../ipc/bindings/GraphView";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { PatchOp } from "../ipc/bindings/PatchOp";
import type { Record as WireRecord } from "../ipc/bindings/Record";
import type { Host } from "../ipc/host";
import { RpcProblem } from "../ipc/problem";

const SECTIONS = [
  ["key", "state"],
  ["node", "nodes"],
  ["edge", "edges"],
  ["layout", "layout"],
] as const;

/** The breakpoints of a graph after a change, as the workbench works them out. */
export function changedBreakpoints(
  before: readonly Breakpoint[],
  { graph, points: changes, removed }: ChangeBreakpoints,
): Breakpoints {
  const name = (point: Breakpoint) => point.id ?? `${point.when}:${point.node}`;
  const points = new Map(before.map((point) => [name(point), point]));
  for (const id of removed) points.delete(id);
  for (const point of changes) points.set(name(point), point);
  return { graph, points: [...points.values()] };
}

/** A graph file as records, ids as in `crates/document`. */
export function fileRecords(file: Json): { id: string; value: Json }[] {
  if (!isObject(file)) return [{ id: "doc", value: {} }];
  const head = { ...file };
  const records: { id: string; value: Json }[] = [];
  for (const [section, field] of SECTIONS) {
    const part = file[field];
    delete head[field];
    if (section === "edge" && Array.isArray(part)) {
      const taken = new Map<string, number>();
      for (const edge of part) {
        if (!isObject(edge)) continue;
        const from = Array.isArray(edge["from"]) ? edge["from"].join("+") : String(edge["from"]);
        const base =
          typeof edge["id"] === "string"
            ? edge["id"]
            : `${from}->${"route" in edge ? "?" : String(edge["to"])}`;
        const count = (taken.get(base) ?? 0) + 1;
        taken.set(base, count);
        records.push({ id: `edge:${count === 1 ? base : `${base}~${count}`}`, value: edge });
      }
    } else if (isObject(part)) {
      for (const [name, value] of Object.entries(part)) records.push({ id: `${section}:${name}`, value });
    }
  }
  return [{ id: "doc", value: head }, ...records];
}

const text = (title: string, editor: string) => ({ type: "string", title, "x-editor": editor });

export const FAKE_KINDS: NodeKind[] = [
  {
    kind: "assign",
    title: "Assign",
    summary: "Computes state keys with expressions.",
    icon: "equal",
    group: "state",
    aliases: [],
    configSchema: {
      type: "object",
      properties: { set: { type: "object", title: "Set", "x-editor": "assignments" } },
    },
    defaults: { set: {} },
    card: ["/set"],
    inside: false,
  },
  {
    kind: "model",
    title: "Model",
    summary: "Calls a language model.",
    icon: "sparkles",
    group: "models",
    aliases: [],
    configSchema: {
      type: "object",
      properties: {
        model: text("Model", "text"),
        system: text("System", "template"),
        prompt: text("Prompt", "template"),
        into: text("Into", "state-key"),
      },
    },
    defaults: { model: "scripted", prompt: "", into: "" },
    card: ["/model", "/prompt", "/into"],
    inside: false,
  },
  {
    kind: "code",
    title: "Code",
    summary: "Runs JavaScript.",
    icon: "code",
    group: "code",
    aliases: [],
    configSchema: { type: "object", properties: { source: text("Source", "code") } },
    defaults: { source: "return {};" },
    card: ["/source"],
    inside: false,
  },
  {
    kind: "ask",
    title: "Ask",
    summary: "Pauses the run, asks a person and continues with the answer.",
    icon: "message-circle-question",
    group: "people",
    aliases: [],
    configSchema: {
      type: "object",
      properties: { question: text("Question", "template"), into: text("Into", "state-key") },
    },
    defaults: { question: "", into: "" },
    card: ["/question", "/into"],
    inside: false,
  },
  {
    kind: "retrieve",
    title: "Retrieve",
    summary: "Finds passages in a folder of Markdown.",
    icon: "book-open-text",
    group: "knowledge",
    aliases: [],
    configSchema: {
      type: "object",
      properties: {
        folder: text("Folder", "folder"),
        query: text("Query", "expression"),
        into: text("Into", "state-key"),
      },
    },
    defaults: { folder: "docs", query: "state.question", into: "" },
    card: ["/folder", "/query", "/into"],
    inside: false,
  },
];

interface Open {
  readonly doc: GraphDocument;
  rev: number;
  savedRev: number;
  path: string | null;
}

export interface FakeHost extends Host {
  /** Documents by id, to look into from tests. */
  readonly documents: ReadonlyMap<string, Open>;
  /** What was asked of it, the oldest first. */
  readonly calls: { readonly command: string; readonly request: unknown }[];
  /** Sends events, as a run would. */
  tell(...events: AppEvent[]): void;
}

/** Answers of commands, in place of or beside its own. */
export type FakeCommands = Record<string, (request: never) => unknown>;

export function fakeHost(graphs: ReadonlyMap<string, Json> = new Map(), own: FakeCommands = {}): FakeHost {
  const calls: { command: string; request: unknown }[] = [];
  let listener: ((batch: EventBatch) => void) | null = null;
  let seq = 0;
  const documents = new Map<string, Open>();
  const breakpoints = new Map<string, Breakpoints>();
  let next = 1;
  const settings = { theme: "system" as const, language: "system" as const, follow: false, welcomed: true };

  const view = (graphId: string): GraphView => {
    const open = documents.get(graphId);
    if (!open) throw new RpcProblem({ code: "not-found", message: `No graph “${graphId}” is open.` });
    return {
      graphId,
      name: open.doc.name,
      ...(open.path === null ? {} : { path: open.path }),
      records: open.doc.records() as WireRecord[],
      rev: open.rev,
      savedRev: open.savedRev,
      diagnostics: [],
      leads: {},
    };
  };
  const open = (file: Json, path: string | null): GraphView => {
    const graphId = `g_${next++}`;
    const doc = new GraphDocument();
    doc.reset(fileRecords(file));
    documents.set(graphId, { doc, rev: 1, savedRev: 1, path });
    return view(graphId);
  };
  const need = (graphId: string): Open => {
    const found = documents.get(graphId);
    if (!found) throw new RpcProblem({ code: "not-found", message: `No graph “${graphId}” is open.` });
    return found;
  };

  const commands: Record<string, (request: Record<string, unknown>) => unknown> = {
    "app.info": (): AppInfo => ({
      version: "0.0.0",
      dataDir: "/home/me/.local/share/superstep",
      graphsDir: "/home/me/Superstep",
      examples: [...graphs].map(([id, file]) => ({
        id,
        name: isObject(file) ? String(file["name"]) : id,
        summary: isObject(file) ? String(file["description"] ?? "") : "",
        records: fileRecords(file) as WireRecord[],
        alone: true,
      })),
      recents: [],
      kinds: FAKE_KINDS,
      settings,
      open: [...documents.keys()].map((graphId) => ({ graphId })),
    }),
    "settings.set": (request) => request,
    "breakpoints.get": ({ graph }) => breakpoints.get(String(graph)) ?? { graph, points: [] },
    "breakpoints.change": (request) => {
      const change = request as unknown as ChangeBreakpoints;
      const changed = changedBreakpoints(breakpoints.get(change.graph)?.points ?? [], change);
      breakpoints.set(change.graph, changed);
      return changed;
    },
    "graph.new": ({ name }) =>
      open({ format: "superstep/1", name: String(name), state: {}, nodes: {}, edges: [] }, null),
    "graph.openExample": ({ id }) =>
      open(graphs.get(String(id)) ?? {}, `/home/me/Superstep/${String(id)}/graph.json`),
    "graph.open": ({ path }) => open({ name: String(path), nodes: {}, edges: [] }, String(path)),
    "graph.get": ({ graphId }) => view(String(graphId)),
    "graph.apply": ({ graphId, baseRev, ops }) => {
      const found = need(String(graphId));
      if (baseRev !== found.rev)
        throw new RpcProblem({ code: "conflict", message: "The graph has changed elsewhere." });
      found.doc.apply({ ops: ops as PatchOp[] });
      found.rev += 1;
      return { rev: found.rev, diagnostics: [], leads: {} };
    },
    "graph.save": ({ graphId, path }) => {
      const found = need(String(graphId));
      found.path = typeof path === "string" ? path : found.path;
      found.savedRev = found.rev;
      return { path: found.path ?? "", savedRev: found.savedRev };
    },
    // The graph in its file is the one that `graph.open` gives.
    "graph.revert": ({ graphId }) => {
      const found = need(String(graphId));
      found.doc.reset(fileRecords({ name: found.path, nodes: {}, edges: [] }));
      found.savedRev = found.rev += 1;
      return view(String(graphId));
    },
    "graph.close": ({ graphId }) => {
      documents.delete(String(graphId));
      return {};
    },
    "graph.versions": () => ({ versions: [], current: "" }),
    "thread.graph": () => ({ moved: false, report: { tasks: [], keys: [], questions: [], programs: [] } }),
    "thread.list": () => ({ threads: [], total: 0 }),
    "inbox.list": () => ({ questions: [], waiting: 0 }),
    "run.effects": () => ({ effects: [], questionsLeft: 0 }),
  };

  return {
    kind: "web",
    documents,
    calls,
    tell: (...events) => listener?.({ seq: (seq += 1), events }),
    rpc: async (command, request) => {
      calls.push({ command, request });
      const run = (own[command] ?? commands[command]) as (typeof commands)[string] | undefined;
      if (!run) throw new RpcProblem({ code: "fake", message: `The fake host cannot do “${command}”.` });
      return structuredClone(await run((request ?? {}) as Record<string, unknown>));
    },
    subscribe: (onBatch) => {
      listener = onBatch;
      return () => (listener = null);
    },
    watchConnection: (onChange) => {
      onChange("open");
      return () => {};
    },
    setTitle: (title) => {
      document.title = title;
    },
  };
}
