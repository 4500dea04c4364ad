/** Whether the threads of the database in use are another program's, which alone runs and changes them. */
import { create } from "zustand";
import { rpc } from "../../ipc/client";
import { isServerAddress } from "../../lib/address";
import { t } from "../../lib/texts";

interface OnlyRead {
  readonly onlyRead: boolean;
  readonly database: string;
  /** The program that makes them, when it is attached: it runs them for us. */
  readonly attached: string | null;
}

export const useOnlyRead = create<OnlyRead>(() => ({ onlyRead: false, database: "", attached: null }));

/** Whether nothing can be run: neither are the threads our own, nor is their program attached. */
export const cannotRun = ({ onlyRead, attached }: OnlyRead): boolean => onlyRead && attached === null;

/** Whether a server runs the threads: it takes inputs and answers, and no edits and breakpoints of ours. */
const isOnServer = ({ attached }: OnlyRead): boolean => attached !== null && isServerAddress(attached);

/** Whether nothing can be edited or stopped at. */
export const cannotEdit = (store: OnlyRead): boolean => cannotRun(store) || isOnServer(store);

/** Why nothing is edited or stopped at here; null where it can be. */
export const offCannotEdit = (): string | null => {
  const store = useOnlyRead.getState();
  if (isOnServer(store)) return t("debug.off.onServer");
  return cannotRun(store) ? t("debug.off.onlyRead") : null;
};

/** The same for what is drawn once. */
export const useOffCannotEdit = (): string | null => useOnlyRead(offCannotEdit);

/** Why nothing is run or changed here; null where the threads are our own. For menus, which are made again each time. */
export const offOnlyRead = (): string | null =>
  useOnlyRead.getState().onlyRead ? t("debug.off.onlyRead") : null;

/** The same for what is drawn once. */
export const useOffOnlyRead = (): string | null =>
  useOnlyRead((store) => (store.onlyRead ? t("debug.off.onlyRead") : null));

/** Why nothing is run, stopped at or edited here; null where the threads are our own or their program is attached, which does it. */
export const offCannotRun = (): string | null =>
  cannotRun(useOnlyRead.getState()) ? t("debug.off.onlyRead") : null;

/** The same for what is drawn once. */
export const useOffCannotRun = (): string | null =>
  useOnlyRead((store) => (cannotRun(store) ? t("debug.off.onlyRead") : null));

let requests = 0;

/** Asks the database in use; a host that cannot say so has one that is written. */
export async function readOnlyRead(): Promise<void> {
  const request = (requests += 1);
  try {
    const { onlyRead, url, attached } = await rpc("storage.info", {});
    if (request === requests)
      useOnlyRead.setState({ onlyRead: onlyRead === true, database: url, attached: attached ?? null });
  } catch {
    if (request === requests) useOnlyRead.setState({ onlyRead: false, attached: null });
  }
}
