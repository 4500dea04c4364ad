// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";
import { httpHost } from "./http";
import { socketProtocols, takeToken } from "./token";

afterEach(() => {
  localStorage.clear();
  window.history.replaceState(null, "", "/");
});

describe("the token of the server", () => {
  it("leaves the address and stays for the origin", () => {
    window.history.replaceState(null, "", "/threads/1?a=1#token=one");
    expect(takeToken()).toBe("one");
    expect(window.location.href).toMatch(/\/threads\/1\?a=1$/);
    expect(takeToken()).toBe("one");
    window.history.replaceState(null, "", "/#token=two");
    expect([takeToken(), takeToken()]).toEqual(["two", "two"]);
  });

  it("is absent when nobody gave one", () => {
    expect(takeToken()).toBeNull();
    expect(socketProtocols(null)).toEqual(["superstep"]);
  });

  it("goes with each command, with the stream, and into no cookie", async () => {
    window.history.replaceState(null, "", "/#token=s3-x");
    const fetched = vi.fn<typeof fetch>(async () => new Response("{}"));
    const socket = vi.fn<(url: string, protocols: string[]) => WebSocket>(
      () => ({ close() {} }) as unknown as WebSocket,
    );
    const host = httpHost({ base: "http://127.0.0.1:1", fetch: fetched, socket });
    await host.rpc("app.info", {});
    const sent = fetched.mock.calls[0]![1]!;
    expect(sent.credentials).toBe("omit");
    expect(new Headers(sent.headers).get("authorization")).toBe("Bearer s3-x");
    host.subscribe(
      () => {},
      () => {},
    )();
    expect(socket).toHaveBeenCalledWith("ws://127.0.0.1:1/events", ["superstep", "superstep.token.73332d78"]);
    expect(document.cookie).toBe("");
  });

  it("is taken when the address of another start is opened in this tab or another", async () => {
    window.history.replaceState(null, "", "/#token=one");
    const fetched = vi.fn<typeof fetch>(async () => new Response("{}"));
    const host = httpHost({ base: "http://127.0.0.1:1", fetch: fetched });
    window.history.replaceState(null, "", "/#token=two");
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    await host.rpc("app.info", {});
    localStorage.setItem("superstep.token", "three");
    window.dispatchEvent(new StorageEvent("storage", { key: "superstep.token" }));
    await host.rpc("app.info", {});
    const sent = fetched.mock.calls.map(([, init]) => new Headers(init!.headers).get("authorization"));
    expect(sent).toEqual(["Bearer two", "Bearer three"]);
  });
});
