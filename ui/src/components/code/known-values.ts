/** Where editors look up the value that an expression has in the last run, or with a sample. */
import { createContext } from "react";

/** Rejects where there is no such value. */
export type ValueLookup = (expression: string) => Promise<unknown>;

export const KnownValues = createContext<ValueLookup | null>(null);
