/**
 * The whole window on a made thread, for measuring the debugger: `?bench=debugger&checkpoints=10000&forks=500&spans=10000`.
 * `window.superstepDebuggerBench` runs one measurement by name; `tests/e2e/bench-debugger.mjs` asks for them.
 */
import { useState } from "react";
import { App } from "../../app";
import { replaceHost } from "../../ipc/client";
import { BenchHost } from "./host";
import { type Figures, measurements } from "./measure";
import { madeThread } from "./thread";

declare global {
  interface Window {
    superstepDebuggerBench?: (name: string) => Promise<Figures>;
  }
}

export function DebuggerBench({ query }: { query: URLSearchParams }) {
  useState(() => {
    const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
    const host = new BenchHost(
      madeThread(number("checkpoints", 10_000), number("forks", 500), number("spans", 10_000)),
    );
    replaceHost(host);
    const known = measurements(host);
    window.superstepDebuggerBench = async (name) => {
      const run = known[name];
      if (!run) throw new Error(`there is no measurement ${name}`);
      return run();
    };
    return host;
  });
  return <App />;
}
