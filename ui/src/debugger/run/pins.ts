/**
 * Pinned outputs of the open graph: what its nodes write in runs instead of working. They belong to the graph and not to one
 * window, as breakpoints do: the workbench keeps them, and every window shows what is kept.
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

const NONE: Pins["nodes"] = {};
const useStore = create<{ readonly graph: string | null; readonly nodes: Pins["nodes"] }>(() => ({
  graph: null,
  nodes: NONE,
}));

/** What a node writes instead of working; nothing when it works. */
export function usePin(node: string): ValueView | undefined {
  return useStore((store) => store.nodes[node]);
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
  if (useStore.getState().nodes[from] !== undefined) void set({ node: from, renamed: to });
}

async function read(): Promise<void> {
  const graph = useSession.getState().graphKey;
  useStore.setState((now) => (now.graph === graph ? now : { graph, nodes: NONE }));
  if (graph === null) return;
  try {
    receive(await rpc("pins.get", { graph }));
  } catch (problem) {
    showProblem(problem);
  }
}

function receive({ graph, nodes }: Pins): void {
  if (graph === useSession.getState().graphKey) useStore.setState({ graph, nodes });
}

let following = false;

/** Connects to the event stream and to the open graph, once for the window's life. */
export function followPins(): void {
  if (following) return;
  following = true;
  subscribe(
    (events) => {
      for (const event of events) {
        if (event.type === "pins") receive(event.pins);
        else if (event.type === "changed" && event.threads) void read();
      }
    },
    () => void read(),
  );
  useSession.subscribe((now, before) => {
    if (now.graphKey !== before.graphKey) void read();
  });
  void read();
}
