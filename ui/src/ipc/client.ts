/**
 * The only door to the workbench: typed commands and the event stream. Which host is behind it is found once, at the
 * start; a fake one can be put in before that (development and tests only).
 */
import type { AppEvent } from "./bindings/AppEvent";
import type { EventBatch } from "./bindings/EventBatch";
import type { Commands } from "./commands";
import type { Connection, Host } from "./host";
import { httpHost } from "./http";
import { RpcProblem } from "./problem";
import { desktopHost, insideWindow } from "./tauri";

export { RpcProblem };
export type { Connection, Host };

let current: Host | null = null;

/** Puts a host in place of the one that would be found. Before the first command. */
export function replaceHost(replacement: Host): void {
  current = replacement;
}

function theHost(): Host {
  current ??= insideWindow() ? desktopHost() : httpHost();
  return current;
}

/** What the interface may ask the host directly. */
export const host: Pick<
  Host,
  "kind" | "pickOpen" | "pickSave" | "setScale" | "setTitle" | "watchConnection"
> = {
  get kind() {
    return theHost().kind;
  },
  get pickOpen() {
    return theHost().pickOpen;
  },
  get pickSave() {
    return theHost().pickSave;
  },
  get setScale() {
    return theHost().setScale;
  },
  setTitle: (title) => theHost().setTitle(title),
  watchConnection: (onChange) => theHost().watchConnection(onChange),
};

/** Calls a command. Throws `RpcProblem`, or the abort reason when `signal` fired. */
export async function rpc<K extends keyof Commands>(
  command: K,
  request: Commands[K][0],
  signal?: AbortSignal,
): Promise<Commands[K][1]> {
  try {
    return (await theHost().rpc(command, request, signal)) as Commands[K][1];
  } catch (thrown) {
    if (thrown instanceof RpcProblem && thrown.code === "no-connection") reloadIfBack();
    throw thrown;
  }
}

const RELOAD_AFTER_MS = 500;
let reloading: ReturnType<typeof setTimeout> | undefined;

/**
 * A request can fail although the host is back: it was sent to the one before, or over a connection that had died. What
 * it was to show is loaded again then, because nobody else would ask for it.
 */
function reloadIfBack(): void {
  if (reloading !== undefined) return;
  reloading = setTimeout(() => {
    reloading = undefined;
    let isOpen = false;
    theHost().watchConnection((connection) => {
      isOpen = connection === "open";
    })();
    if (isOpen) for (const each of [...listeners]) each.onGap();
  }, RELOAD_AFTER_MS);
}

interface Listener {
  readonly onEvents: (events: AppEvent[]) => void;
  readonly onGap: () => void;
}

let prepare: (() => Promise<void>) | null = null;

/** What is to be done when the host is back, before the listeners learn that events were lost. */
export function beforeRecovery(work: () => Promise<void>): () => void {
  prepare = work;
  return () => {
    if (prepare === work) prepare = null;
  };
}

const listeners = new Set<Listener>();
let stop: (() => void) | null = null;
let lastSeq = 0;

function deliver(batch: EventBatch): void {
  // The host counts per connection; a number that is not the next one means that batches were dropped on the way.
  const gap = lastSeq !== 0 && batch.seq !== lastSeq + 1;
  lastSeq = batch.seq;
  if (gap) for (const listener of [...listeners]) listener.onGap();
  for (const listener of [...listeners]) {
    try {
      listener.onEvents(batch.events);
    } catch (thrown) {
      console.error("superstep: an event listener failed:", thrown);
    }
  }
}

async function recovered(): Promise<void> {
  try {
    await prepare?.();
  } catch (thrown) {
    // The host may be gone again; its next return finds everything as it is now.
    console.warn("superstep: nothing could be opened again yet:", thrown);
  }
  for (const each of [...listeners]) each.onGap();
}

/**
 * Listens to all events. All listeners share one connection. `onGap` says that events were lost: reload what you show.
 */
export function subscribe(onEvents: (events: AppEvent[]) => void, onGap: () => void): () => void {
  const listener: Listener = { onEvents, onGap };
  listeners.add(listener);
  stop ??= theHost().subscribe(deliver, () => {
    lastSeq = 0;
    void recovered();
  });
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && stop) {
      stop();
      stop = null;
      lastSeq = 0;
    }
  };
}
