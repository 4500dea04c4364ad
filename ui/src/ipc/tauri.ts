/** The desktop host. The only file that may import `@tauri-apps`. */
import { Channel, invoke, isTauri } from "@tauri-apps/api/core";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { getCurrentWindow } from "@tauri-apps/api/window";
import { open, save } from "@tauri-apps/plugin-dialog";
import type { EventBatch } from "./bindings/EventBatch";
import type { Host } from "./host";
import { RpcProblem } from "./problem";

export function insideWindow(): boolean {
  return isTauri();
}

const FILTERS = {
  json: [{ name: "Graph", extensions: ["json"] }],
  jsonl: [{ name: "Thread", extensions: ["jsonl"] }],
  svg: [{ name: "Picture", extensions: ["svg"] }],
  png: [{ name: "Picture", extensions: ["png"] }],
  csv: [{ name: "Table", extensions: ["csv"] }],
};

/** What is opened as a graph: a database is recognized by its content, whatever its name. */
const OPENED = [
  { name: "Graph or LangGraph database", extensions: ["json", "sqlite", "sqlite3", "db"] },
  { name: "All files", extensions: ["*"] },
];

export function desktopHost(): Host {
  return {
    kind: "desktop",
    async rpc(command, request, signal) {
      signal?.throwIfAborted();
      try {
        const answer = await invoke("rpc", { command, request });
        signal?.throwIfAborted();
        return answer;
      } catch (thrown) {
        if (signal?.aborted) throw thrown;
        throw RpcProblem.from(thrown);
      }
    },
    subscribe(onBatch, onReset) {
      let live = true;
      const channel = new Channel<EventBatch>();
      channel.onmessage = (batch) => {
        if (live) onBatch(batch);
      };
      invoke("subscribe", { channel }).catch((thrown: unknown) => {
        console.error("superstep: no events from the host:", thrown);
        onReset();
      });
      return () => {
        live = false;
      };
    },
    watchConnection(onChange) {
      onChange("open");
      return () => {};
    },
    pickOpen: async (ending = "json") => {
      const picked = await open({
        multiple: false,
        directory: false,
        filters: ending === "json" ? OPENED : FILTERS[ending],
      });
      return typeof picked === "string" ? picked : null;
    },
    pickSave: (suggested, ending = "json") => save({ defaultPath: suggested, filters: FILTERS[ending] }),
    setScale: (scale) => getCurrentWebview().setZoom(scale),
    setTitle(title) {
      document.title = title;
      getCurrentWindow()
        .setTitle(title)
        .catch(() => {
          // Without the permission the title stays what it was; nothing else depends on it.
        });
    },
  };
}
