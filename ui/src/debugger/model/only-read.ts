/** Whether the threads of the database in use are another program's, which alone runs and changes them. */
import { create } from "zustand";
import { rpc } from "../../ipc/client";

export const useOnlyRead = create<{ readonly onlyRead: boolean }>(() => ({ onlyRead: false }));

let requests = 0;

/** Asks the database in use; a host that cannot say so has one that is written. */
export async function readOnlyRead(): Promise<void> {
  const request = (requests += 1);
  try {
    const { onlyRead } = await rpc("storage.info", {});
    if (request === requests) useOnlyRead.setState({ onlyRead: onlyRead === true });
  } catch {
    if (request === requests) useOnlyRead.setState({ onlyRead: false });
  }
}
