/** Asking a person for the price of a model; what shows costs is read again when a price has changed. */
import { create } from "zustand";
import type { ModelPrice } from "../ipc/bindings/ModelPrice";

interface Prices {
  /** What is asked for; null when nothing is. */
  readonly asked: {
    /** Models without a price, of which the first is asked about. */
    readonly models: readonly string[];
    /** The price so far. */
    readonly price?: ModelPrice;
  } | null;
  /** Goes up with each change. */
  readonly changes: number;
}

export const usePrices = create<Prices>(() => ({ asked: null, changes: 0 }));

export const askPrice = (models: readonly string[], price?: ModelPrice): void =>
  usePrices.setState({ asked: { models, ...(price && { price }) } });

export const usePriceChanges = (): number => usePrices(({ changes }) => changes);

/** A price was set or removed. */
export const pricesChanged = (): void => usePrices.setState(({ changes }) => ({ changes: changes + 1 }));
