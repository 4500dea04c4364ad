/** The MCP servers of the open graph's project, and what those offer that were asked. Shared by all fields that show them. */
import { useEffect } from "react";
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { useDocumentState } from "../../document/store";
import type { McpServers } from "../../ipc/bindings/McpServers";
import type { SignInBegun } from "../../ipc/bindings/SignInBegun";
import type { ServerTool } from "../../ipc/bindings/ServerTool";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { notAllowed, trusted } from "../../state/trust";

interface Servers {
  /** Of which graph, at which place: a draft that is saved has another project. */
  readonly of: string;
  readonly list: McpServers | null;
  readonly problem: ShownProblem | null;
  readonly tools: ReadonlyMap<string, readonly ServerTool[]>;
  readonly failed: ReadonlyMap<string, ShownProblem>;
  readonly asking: string | null;
  /** A server at which the person signs in, once its page is known. */
  readonly signingIn: { readonly server: string; readonly page: SignInBegun | null } | null;
}

const NONE = {
  list: null,
  problem: null,
  tools: new Map(),
  failed: new Map(),
  asking: null,
  signingIn: null,
} as const;

const useStore = create<Servers>(() => ({ of: "", ...NONE }));

const placeNow = () => `${useSession.getState().graphId ?? ""}\n${useDocumentState.getState().path ?? ""}`;

async function read(of: string): Promise<void> {
  const graphId = useSession.getState().graphId;
  if (graphId === null || useDocumentState.getState().path === null) return;
  try {
    const list = await rpc("mcp.servers", { graphId });
    if (useStore.getState().of === of) useStore.setState({ list, problem: null });
  } catch (thrown) {
    if (useStore.getState().of === of) useStore.setState({ problem: asProblem(thrown) });
  }
}

export function useServers(): Servers {
  const graphId = useSession((state) => state.graphId);
  const path = useDocumentState((state) => state.path);
  useEffect(() => {
    const of = `${graphId ?? ""}\n${path ?? ""}`;
    if (useStore.getState().of === of) return;
    useStore.setState({ of, ...NONE });
    void read(of);
  }, [graphId, path]);
  return useStore();
}

export function takeServers(list: McpServers): void {
  useStore.setState({ list, problem: null });
}

/** Changes what is known of the graph that is open now, for as long as it is. */
function putter() {
  const of = placeNow();
  return (change: (store: Servers) => Partial<Servers>) => {
    if (useStore.getState().of === of) useStore.setState(change(useStore.getState()));
  };
}

/** Shows the page of a server on which the person signs in, waits for that, and asks what the server offers. */
export async function signIn(server: string): Promise<void> {
  const graphId = useSession.getState().graphId;
  if (graphId === null) return;
  const put = putter();
  put(({ failed }) => ({
    signingIn: { server, page: null },
    failed: new Map([...failed].filter(([name]) => name !== server)),
  }));
  try {
    const page = await trusted(() => rpc("mcp.signIn", { graphId, server }), "connect");
    put(() => ({ signingIn: { server, page } }));
    if (!page.opened) window.open(page.address, "_blank", "noopener,noreferrer");
    await rpc("mcp.signedIn", { graphId, server });
    const list = await rpc("mcp.servers", { graphId });
    put(() => ({ list, signingIn: null }));
    await askServer(server);
  } catch (thrown) {
    const problem = asProblem(thrown);
    if (!notAllowed(thrown) && problem.code !== "cancelled")
      put((store) => ({ failed: new Map(store.failed).set(server, problem) }));
  } finally {
    put(({ signingIn }) => (signingIn?.server === server ? { signingIn: null } : {}));
  }
}

export async function cancelSignIn(server: string): Promise<void> {
  const graphId = useSession.getState().graphId;
  if (graphId !== null) await rpc("mcp.cancelSignIn", { graphId, server });
}

export async function signOut(server: string): Promise<void> {
  const graphId = useSession.getState().graphId;
  if (graphId === null) return;
  const put = putter();
  try {
    const list = await rpc("mcp.signOut", { graphId, server });
    put(({ tools }) => ({ list, tools: new Map([...tools].filter(([name]) => name !== server)) }));
  } catch (thrown) {
    put((store) => ({ failed: new Map(store.failed).set(server, asProblem(thrown)) }));
  }
}

/** Asks a server what it offers, once a person has allowed to start or reach it. */
export async function askServer(server: string): Promise<void> {
  const graphId = useSession.getState().graphId;
  if (graphId === null) return;
  const put = putter();
  put(({ failed }) => ({
    asking: server,
    failed: new Map([...failed].filter(([name]) => name !== server)),
  }));
  try {
    const { tools } = await trusted(() => rpc("mcp.tools", { graphId, server }), "connect");
    put((store) => ({ tools: new Map(store.tools).set(server, tools) }));
  } catch (thrown) {
    if (!notAllowed(thrown))
      put((store) => ({ failed: new Map(store.failed).set(server, asProblem(thrown)) }));
  } finally {
    put(() => ({ asking: null }));
  }
}
