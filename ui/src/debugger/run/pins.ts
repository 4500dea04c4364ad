/**
 * Pinned outputs of the open graph and of graphs that are shown within it: what their nodes write in runs instead of working.
 * They belong to the graph and not to one window, as breakpoints do: the workbench keeps them, and every window shows what is
 * kept.
 */
import { create } from "zustand";
import type { PinnedTask } from "../../ipc/bindings/PinnedTask";
import type { Pins } from "../../ipc/bindings/Pins";
import type { SetPin } from "../../ipc/bindings/SetPin";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc, subscribe } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { nodeName } from "../parts/format";

interface Kept {
  /** The open graph. */
  readonly graph: string | null;
  /** By graph; those that nothing shows are not read. */
  readonly of: Readonly<Record<string, Pins["nodes"]>>;
}

const NONE: Pins["nodes"] = {};
const useStore = create<Kept>(() => ({ graph: null, of: {} }));

/** What a node writes instead of working, in the open graph or in one within it; nothing when it works. */
export function usePin(node: string, graph?: string): ValueView | undefined {
  return useStore((store) => store.of[graph ?? store.graph ?? ""]?.[node]);
}

/** Reads what is pinned in a graph that is shown within the open one, and follows it. */
export function followPinsOf(graph: string): void {
  if (graph in useStore.getState().of) return;
  useStore.setState(({ of }) => ({ of: { ...of, [graph]: NONE } }));
  void read(graph);
}

async function set(change: Omit<SetPin, "graph">): Promise<boolean> {
  const graph = useSession.getState().graphKey;
  if (graph === null) return false;
  try {
    receive(await rpc("pins.set", { graph, ...change }));
    return true;
  } catch (problem) {
    showProblem(problem);
    return false;
  }
}

/** Pins what a task wrote as the output of its node. */
export async function pinOutput(node: string, from: PinnedTask): Promise<void> {
  if (!(await set({ node, from }))) return;
  showToast({
    tone: "done",
    text: t("pins.pinned", { node: nodeName(node) }),
    action: { label: t("pins.unpin"), run: () => void unpin(node) },
  });
}

export async function unpin(node: string): Promise<void> {
  await set({ node });
}

/** A node is called otherwise; its pin goes along. */
export function renamePin(from: string, to: string): void {
  const { graph, of } = useStore.getState();
  if (of[graph ?? ""]?.[from] !== undefined) void set({ node: from, renamed: to });
}

function readOpen(): void {
  const graph = useSession.getState().graphKey;
  useStore.setState({ graph });
  if (graph !== null) void read(graph);
}

async function read(graph: string): Promise<void> {
  try {
    receive(await rpc("pins.get", { graph }));
  } catch (problem) {
    showProblem(problem);
  }
}

function receive({ graph, nodes }: Pins): void {
  const isOpen = graph === useSession.getState().graphKey;
  if (isOpen || graph in useStore.getState().of)
    useStore.setState(({ of }) => ({ of: { ...of, [graph]: nodes } }));
}

function readAgain(): void {
  readOpen();
  const { graph, of } = useStore.getState();
  for (const other of Object.keys(of)) if (other !== graph) void read(other);
}

let following = false;

/** Connects to the event stream and to the open graph, once for the window's life. */
export function followPins(): void {
  if (following) return;
  following = true;
  subscribe((events) => {
    for (const event of events) {
      if (event.type === "pins") receive(event.pins);
      else if (event.type === "changed" && event.threads) readAgain();
    }
  }, readAgain);
  useSession.subscribe((now, before) => {
    if (now.graphKey !== before.graphKey) readOpen();
  });
  readOpen();
}
