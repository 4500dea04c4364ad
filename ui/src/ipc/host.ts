/** What a host must be able to do. Two exist (`tauri.ts`, `http.ts`); tests and development add a fake one. */
import type { EventBatch } from "./bindings/EventBatch";

/** `refused`: the host is there, but does not let this window in; it asks again until it does. */
export type Connection = "connecting" | "open" | "lost" | "refused";

export interface Host {
  readonly kind: "desktop" | "web";
  rpc(command: string, request: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Delivers batches in order. `onReset` is called after a reconnection: whatever came between is lost. */
  subscribe(onBatch: (batch: EventBatch) => void, onReset: () => void): () => void;
  /** Calls back with every change of the connection; the present one first. */
  watchConnection(onChange: (connection: Connection) => void): () => void;
  /** Native file dialogs; a host without them leaves them out and the in-app dialog is used. */
  pickOpen?(ending?: "json" | "jsonl"): Promise<string | null>;
  pickSave?(suggested: string, ending?: "json" | "jsonl" | "svg" | "png" | "csv"): Promise<string | null>;
  /** Draws the interface larger or smaller, 1 as it is made; a browser leaves it out, because it has a zoom of its own. */
  setScale?(scale: number): Promise<void>;
  /** Sets the window's title. */
  setTitle(title: string): void;
}
