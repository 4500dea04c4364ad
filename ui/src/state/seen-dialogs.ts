/** What the dialogs about a LangGraph program's threads are asked to show; asked from menus, the palette and other dialogs. */
import { create } from "zustand";
import type { ProgramDebugger } from "../ipc/bindings/ProgramDebugger";

export interface SeenAsked {
  /** The address of a database that is to be opened, as far as it is known; `go` opens it at once. */
  readonly address: { readonly text: string; readonly go: boolean } | null;
  /** The graph whose nodes are found on one of our own. */
  readonly laid: string | null;
  /** The thread that is to be copied; without an id all are. */
  readonly copy: { readonly threadId?: string; readonly title: string } | null;
  /** The key of the values that the program encrypts. */
  readonly key: boolean;
  /** Where an editor attaches to the code of the program. */
  readonly code: (ProgramDebugger & { readonly name: string }) | null;
}

export const useSeenAsked = create<SeenAsked>(() => ({
  address: null,
  laid: null,
  copy: null,
  key: false,
  code: null,
}));

export const askAddress = (text = "", go = false): void => useSeenAsked.setState({ address: { text, go } });

export const askLaid = (laid: string): void => useSeenAsked.setState({ laid });

export const askKey = (): void => useSeenAsked.setState({ key: true });

export const askCopy = (copy: NonNullable<SeenAsked["copy"]>): void => useSeenAsked.setState({ copy });
