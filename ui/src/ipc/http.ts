/**
 * The browser host: commands over POST, events over one WebSocket that comes back by itself. Event batches carry a
 * number; after a reconnection the numbers start again and what was missed is gone, so the reader has to reload.
 */
import type { EventBatch } from "./bindings/EventBatch";
import type { Problem } from "./bindings/Problem";
import type { Connection, Host } from "./host";
import { RpcProblem } from "./problem";
import { socketProtocols, takeToken } from "./token";

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2000;

export interface HttpOptions {
  readonly base?: string;
  readonly fetch?: typeof fetch;
  readonly socket?: (url: string, protocols: string[]) => WebSocket;
}

export function httpHost(options: HttpOptions = {}): Host {
  const base = options.base ?? window.location.origin;
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const connect = options.socket ?? ((url, protocols) => new WebSocket(url, protocols));
  let token = takeToken();
  // The address of another start of the server, opened in this tab, changes nothing but what stands behind its #;
  // opened in another tab, it changes what is kept.
  for (const change of ["hashchange", "storage"]) {
    window.addEventListener(change, () => {
      token = takeToken();
    });
  }
  const headers = (): Record<string, string> => ({
    "content-type": "application/json",
    ...(token !== null && { authorization: `Bearer ${token}` }),
  });
  const watchers = new Set<(connection: Connection) => void>();
  let connection: Connection = "connecting";
  const setConnection = (next: Connection) => {
    if (next === connection) return;
    connection = next;
    for (const watcher of watchers) watcher(next);
  };

  /** Why no event stream could be opened: a browser does not say whether it was refused or nobody is there. */
  const whyClosed = async (): Promise<Connection> => {
    try {
      const { status } = await send(`${base}/rpc/app.info`, {
        method: "POST",
        credentials: "omit",
        headers: headers(),
        body: "{}",
      });
      return status === 401 || status === 403 ? "refused" : "lost";
    } catch {
      return "lost";
    }
  };

  return {
    kind: "web",
    async rpc(command, request, signal) {
      let response: Response;
      try {
        response = await send(`${base}/rpc/${command}`, {
          method: "POST",
          credentials: "omit",
          headers: headers(),
          body: JSON.stringify(request ?? {}),
          ...(signal ? { signal } : {}),
        });
      } catch (thrown) {
        if (signal?.aborted) throw thrown;
        throw new RpcProblem({
          code: "no-connection",
          message: "The Superstep server did not answer.",
          remedy: "Check that it is still running; the window connects again by itself.",
        });
      }
      const text = await response.text();
      if (response.ok) return text === "" ? {} : JSON.parse(text);
      throw new RpcProblem(problemOf(response.status, text));
    },
    subscribe(onBatch, onReset) {
      let socket: WebSocket | null = null;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let delay = FIRST_RETRY_MS;
      let opened = false;
      let ended = false;
      const open = () => {
        let received = false;
        socket = connect(`${base.replace(/^http/, "ws")}/events`, socketProtocols(token));
        socket.onopen = () => {
          received = true;
          delay = FIRST_RETRY_MS;
          setConnection("open");
          if (opened) onReset();
          opened = true;
        };
        socket.onmessage = (message) => onBatch(JSON.parse(String(message.data)) as EventBatch);
        socket.onclose = () => {
          if (ended) return;
          if (received) setConnection("lost");
          else void whyClosed().then((why) => (ended ? undefined : setConnection(why)));
          timer = setTimeout(open, delay);
          delay = Math.min(delay * 2, LAST_RETRY_MS);
        };
      };
      open();
      return () => {
        ended = true;
        clearTimeout(timer);
        socket?.close();
      };
    },
    watchConnection(onChange) {
      watchers.add(onChange);
      onChange(connection);
      return () => watchers.delete(onChange);
    },
    setTitle(title) {
      document.title = title;
    },
  };
}

function problemOf(status: number, text: string): Problem {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "code" in body && "message" in body)
      return body as Problem;
  } catch {
    // Not ours: a proxy or a page. Said below.
  }
  if (status === 401 || status === 403) {
    return {
      code: "no-token",
      message: "The server does not know this browser.",
      remedy: "Open the address that the server printed when it started; it carries the token.",
    };
  }
  return { code: `http-${status}`, message: `The server answered ${status}.`, remedy: "Look at its output." };
}
