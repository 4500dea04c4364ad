import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeHost } from "../test/fakeHost";
import { replaceHost, rpc, RpcProblem, subscribe } from "./client";
import type { Connection } from "./host";

let connection: Connection = "open";
const host = {
  ...fakeHost(new Map(), {}),
  rpc: (): Promise<unknown> =>
    Promise.reject(
      new RpcProblem({ code: "no-connection", message: "The Superstep server did not answer." }),
    ),
  watchConnection: (onChange: (connection: Connection) => void) => {
    onChange(connection);
    return () => undefined;
  },
};
replaceHost(host);

describe("a request that finds nobody", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("is followed by a reload when the events come again, and by none while they do not", async () => {
    const gap = vi.fn();
    const stop = subscribe(() => undefined, gap);
    connection = "lost";
    await expect(rpc("app.info", {})).rejects.toThrow("did not answer");
    vi.advanceTimersByTime(5000);
    expect(gap).not.toHaveBeenCalled();
    connection = "open";
    await expect(rpc("app.info", {})).rejects.toThrow("did not answer");
    await expect(rpc("app.info", {})).rejects.toThrow("did not answer");
    vi.advanceTimersByTime(5000);
    expect(gap).toHaveBeenCalledTimes(1);
    stop();
  });
});
