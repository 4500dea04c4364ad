/** What a task asked of models, read again when the task or its run is over. */
import { useEffect, useState } from "react";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { rpc, subscribe } from "../../ipc/client";

const NONE: readonly ExchangeView[] = [];

/** Tasks of nested graphs end without an event of their own; the graph they belong to then goes a step further. */
export function concerns(event: AppEvent, threadId: string, taskId: string): boolean {
  switch (event.type) {
    case "taskEnded":
      return event.threadId === threadId && event.taskId === taskId;
    case "within":
      return event.threadId === threadId;
    case "run":
      return event.run.threadId === threadId;
    default:
      return false;
  }
}

/** What all tasks of the thread's last run asked, read when the run is over and while it goes on. */
export function useExchangesOfRun(
  threadId: string | null,
  since: number | undefined,
): readonly ExchangeView[] {
  const [read, setRead] = useState(NONE);
  useEffect(() => {
    setRead(NONE);
    if (threadId === null || since === undefined || Number.isNaN(since)) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      timer = undefined;
      rpc("thread.exchanges", { threadId, since, brief: false }, abort.signal).then(
        ({ exchanges }) => setRead(exchanges),
        () => {},
      );
    };
    load();
    const leave = subscribe((events) => {
      const ours = events.some(
        (event) => "threadId" in event && event.threadId === threadId && event.type === "taskEnded",
      );
      if (ours) timer ??= setTimeout(load, 300);
    }, load);
    return () => {
      abort.abort();
      clearTimeout(timer);
      leave();
    };
  }, [threadId, since]);
  return read;
}

export function useExchanges(threadId: string, taskId: string): readonly ExchangeView[] {
  const [read, setRead] = useState(NONE);
  useEffect(() => {
    const abort = new AbortController();
    const load = () => {
      rpc("thread.exchanges", { threadId, taskId, brief: false }, abort.signal)
        .then(({ exchanges }) => {
          if (!abort.signal.aborted)
            setRead((known) => (known.length === exchanges.length ? known : exchanges));
        })
        // They are an extra: the task is shown without them.
        .catch(() => {});
    };
    setRead(NONE);
    load();
    const unsubscribe = subscribe((events) => {
      if (events.some((event) => concerns(event, threadId, taskId))) load();
    }, load);
    return () => {
      abort.abort();
      unsubscribe();
    };
  }, [threadId, taskId]);
  return read;
}
