/** Long work whose progress the workbench reports: begun with a name of ours, followed, and stopped by that name. */
import { create } from "zustand";
import { rpc, subscribe } from "../ipc/client";

export interface Progress {
  readonly done: number;
  readonly total: number;
}

export const useJobs = create<{ readonly going: ReadonlyMap<string, Progress> }>(() => ({
  going: new Map(),
}));

let count = 0;
let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  subscribe(
    (events) => {
      for (const event of events) {
        if (event.type !== "work") continue;
        const { going } = useJobs.getState();
        if (going.has(event.work)) {
          useJobs.setState({
            going: new Map(going).set(event.work, { done: event.done, total: event.total }),
          });
        }
      }
    },
    () => {},
  );
}

/** Runs work under a new name. The name is given to the command as `work`. */
export async function withJob<T>(
  run: (work: string) => Promise<T>,
  begun?: (work: string) => void,
): Promise<T> {
  listen();
  const work = `work-${Date.now().toString(36)}-${(count += 1)}`;
  useJobs.setState({ going: new Map(useJobs.getState().going).set(work, { done: 0, total: 0 }) });
  begun?.(work);
  try {
    return await run(work);
  } finally {
    const going = new Map(useJobs.getState().going);
    going.delete(work);
    useJobs.setState({ going });
  }
}

export const stopJob = (work: string): void => void rpc("work.cancel", { work });
