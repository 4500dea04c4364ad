/** Threads that another program runs: whatever changes one goes through `takingOver`, the dialog that is shown answers. */
import { create } from "zustand";
import { RpcProblem } from "../ipc/client";

interface TakeOverAsked {
  /** Says who runs the thread. */
  readonly busy: RpcProblem | null;
  /** Says whether the thread is taken over. */
  readonly decide: ((taken: boolean) => void) | null;
}

export const useTakeOverAsked = create<TakeOverAsked>(() => ({ busy: null, decide: null }));

export function decideTakeOver(taken: boolean): void {
  const { decide } = useTakeOverAsked.getState();
  useTakeOverAsked.setState({ busy: null, decide: null });
  decide?.(taken);
}

function ask(busy: RpcProblem): Promise<boolean> {
  // An earlier question is answered: only one dialog is open.
  useTakeOverAsked.getState().decide?.(false);
  return new Promise((decide) => useTakeOverAsked.setState({ busy, decide }));
}

/** A thread is busy elsewhere. When a person has said that it is not taken over, that needs no note. */
export const isBusyElsewhere = (thrown: unknown): thrown is RpcProblem =>
  thrown instanceof RpcProblem && thrown.code === "thread-busy";

/** Runs; when another program runs the thread, asks, and runs again with `takeOver` if it is to be taken over. */
export async function takingOver<T>(run: (flag: { takeOver?: true }) => Promise<T>): Promise<T> {
  try {
    return await run({});
  } catch (thrown) {
    if (!isBusyElsewhere(thrown) || !(await ask(thrown))) throw thrown;
  }
  return run({ takeOver: true });
}
