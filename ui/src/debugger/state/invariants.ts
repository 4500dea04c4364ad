/** How the invariants of the open graph stand at the moment that is shown. */
import { create } from "zustand";
import type { InvariantAt } from "../../ipc/bindings/InvariantAt";

interface Standing {
  /** By id. */
  readonly of: Readonly<Record<string, InvariantAt>>;
}

export const useStanding = create<Standing>()(() => ({ of: {} }));

export function setStanding(invariants: readonly InvariantAt[]): void {
  useStanding.setState({ of: Object.fromEntries(invariants.map((one) => [one.id, one])) });
}

/** Is one of these broken? */
export const anyBroken = (of: Standing["of"], ids: readonly string[]): boolean =>
  ids.some((id) => of[id]?.state === "broken");
