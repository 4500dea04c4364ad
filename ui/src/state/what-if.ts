/** What the what-if dialog is asked to begin with; asked from menus and the palette, which do not know the dialog. */
import { create } from "zustand";
import type { WhatIfGrid } from "../ipc/bindings/WhatIfGrid";

export interface WhatIfAsked {
  readonly threadId: string;
  /** `null` is now. */
  readonly checkpointId: string | null;
  /** A grid to begin with. */
  readonly grid?: WhatIfGrid | undefined;
  /** A node whose setting is to be another. */
  readonly node?: string | undefined;
  /** A state key whose value is to be another, with its value where that is known. */
  readonly key?: { readonly name: string; readonly declared: string; readonly value?: unknown } | undefined;
}

export const useWhatIfAsked = create<{ readonly asked: WhatIfAsked | null }>(() => ({ asked: null }));

export const askWhatIf = (asked: WhatIfAsked | null): void => useWhatIfAsked.setState({ asked });
