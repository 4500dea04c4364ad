/** Asking a person what a graph may touch: whatever runs nodes goes through `trusted`, the dialog that is shown answers. */
import { create } from "zustand";
import type { TrustNeeded } from "../ipc/bindings/TrustNeeded";
import { RpcProblem } from "../ipc/client";

/** What a person wanted when the question came: a run, a connection, or to see what a run would do. */
export type TrustFor = "run" | "connect" | "look";

export interface TrustAsked {
  /** What a run is waiting for. */
  readonly needed: TrustNeeded | null;
  readonly purpose: TrustFor;
  /** The graph whose list is shown without a run. */
  readonly shown: string | null;
  /** Says whether everything was allowed. */
  readonly decide: ((allowed: boolean) => void) | null;
}

export const useTrustAsked = create<TrustAsked>(() => ({
  needed: null,
  purpose: "run",
  shown: null,
  decide: null,
}));

export const showTrust = (graphId: string): void => useTrustAsked.setState({ shown: graphId });

export function decideTrust(allowed: boolean): void {
  const { decide } = useTrustAsked.getState();
  useTrustAsked.setState({ needed: null, decide: null });
  decide?.(allowed);
}

function ask(needed: TrustNeeded, purpose: TrustFor): Promise<boolean> {
  // An earlier question is answered: only one dialog is open.
  useTrustAsked.getState().decide?.(false);
  return new Promise((decide) => useTrustAsked.setState({ needed, purpose, decide }));
}

/** The problem of a run that a person did not allow; they know, so it needs no note. */
export const notAllowed = (thrown: unknown): boolean =>
  thrown instanceof RpcProblem && thrown.code === "trust-needed";

/** Runs; when something has to be allowed first, asks, and runs again if it was. */
export async function trusted<T>(run: () => Promise<T>, purpose: TrustFor = "run"): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (thrown) {
      if (!(thrown instanceof RpcProblem) || !thrown.trust || !(await ask(thrown.trust, purpose)))
        throw thrown;
    }
  }
}
