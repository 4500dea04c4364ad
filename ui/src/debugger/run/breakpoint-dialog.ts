/** Which breakpoint the dialog shows. */
import { create } from "zustand";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";

export const useBreakpointDialog = create<{ readonly point: Breakpoint | null }>(() => ({ point: null }));

/** Opens the dialog for a breakpoint of the list, or for one that is to be added. */
export const editBreakpoint = (point: Breakpoint | null): void => useBreakpointDialog.setState({ point });

/** Opens the dialog for a new breakpoint at a place. */
export const addBreakpoint = (place: Pick<Breakpoint, "when"> & Partial<Breakpoint>): void =>
  editBreakpoint({ id: crypto.randomUUID(), node: "", enabled: true, ...place });
