/**
 * Secrets and where their values come from, shared by all fields that name some: the names that are shown are asked about
 * together, and again when a value was entered here or in another window. Values never come here.
 */
import { useEffect } from "react";
import { create } from "zustand";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { useChanges } from "../../debugger/model/events";
import type { KeptSecret } from "../../ipc/bindings/KeptSecret";
import type { SecretList } from "../../ipc/bindings/SecretList";
import type { SecretView } from "../../ipc/bindings/SecretView";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";

interface Secrets {
  readonly list: SecretList | null;
  readonly problem: ShownProblem | null;
}

const useStore = create<Secrets>(() => ({ list: null, problem: null }));

/** Names that are shown, each with the number of fields that show it. */
const asked = new Map<string, number>();
let turn = 0;
let waiting = false;
/** The graph, at its last change, whose variables are in the list. To find them the whole graph is looked through. */
let listed = "";
let wanted = "";

/** Asks once for everything that is wanted in this moment. */
function read(): void {
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    turn += 1;
    const [own, of] = [turn, wanted];
    const graphId = listed === of ? null : useSession.getState().graphId;
    rpc("secrets.list", { names: [...asked.keys()], ...(graphId !== null && { graphId }) }).then(
      (list) => {
        if (own !== turn) return;
        listed = of;
        useStore.setState({ list: graphId === null ? withWanted(list) : list, problem: null });
      },
      (thrown: unknown) => {
        if (own === turn) useStore.setState({ problem: asProblem(thrown) });
      },
    );
  });
}

/** An answer about some names, with those that the graph wants as they were listed. */
function withWanted(list: SecretList): SecretList {
  const answered = new Set(list.secrets.map((secret) => secret.name));
  const others = useStore.getState().list?.secrets.filter(({ name, kept }) => !kept && !answered.has(name));
  return {
    ...list,
    secrets: [...list.secrets, ...(others ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** Everything again: a value was entered or removed. */
export function readSecretsAgain(): void {
  listed = "";
  read();
}

/** The secrets there are, among them those that the open graph wants and `names`. */
export function useSecrets(names: readonly string[] = []): Secrets {
  const graphId = useSession((state) => state.graphId);
  const changes = useChanges(({ n }) => n);
  const key = names.join("\n");
  useEffect(() => {
    const shown = key === "" ? [] : key.split("\n");
    for (const name of shown) asked.set(name, (asked.get(name) ?? 0) + 1);
    wanted = `${graphId ?? ""} ${changes}`;
    read();
    return () => {
      for (const name of shown) {
        const left = (asked.get(name) ?? 1) - 1;
        if (left === 0) asked.delete(name);
        else asked.set(name, left);
      }
    };
  }, [key, graphId, changes]);
  return useStore();
}

export const secretOf = (list: SecretList | null, name: string): SecretView | undefined =>
  list?.secrets.find((secret) => secret.name === name);

export async function saveSecret(name: string, value: string, keep: KeptSecret): Promise<void> {
  await rpc("secrets.set", { name, value, keep });
  readSecretsAgain();
}

export async function removeSecret(name: string): Promise<void> {
  await rpc("secrets.remove", { name });
  readSecretsAgain();
}
