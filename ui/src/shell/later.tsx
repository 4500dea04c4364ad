/**
 * Parts of the window that its start does without: read when one of them is shown, or a moment after the start.
 * Until then a panel is an empty place of its size, and what lies over others is not there.
 */
import { useEffect, useState, type ComponentType, type ReactNode } from "react";
import { create } from "zustand";
import type * as Modules from "./later-parts";

type Parts = typeof Modules;
type PropsOf<Part> = Part extends ComponentType<infer Props> ? Props & object : never;

const useParts = create<{ readonly parts: Parts | null }>(() => ({ parts: null }));
let reading: Promise<void> | null = null;

/** Reads the parts, once; again when it failed. */
export function readParts(): Promise<void> {
  reading ??= import("./later-parts").then(
    (parts) => useParts.setState({ parts }),
    (thrown: unknown) => {
      reading = null;
      throw thrown;
    },
  );
  return reading;
}

export const areRead = (): boolean => useParts.getState().parts !== null;

const ROOM = <div className="flex-1 min-h-0" aria-busy />;
const NOTHING = null;

type Props<Name extends keyof Parts> = PropsOf<Parts[Name]> & {
  readonly part: Name;
  /** What is in its place until the parts are read. It asks for them unless that is nothing. */
  readonly until?: ReactNode;
};

/** One of the parts. */
export function Later<Name extends keyof Parts>({ part, until = ROOM, ...props }: Props<Name>): ReactNode {
  const parts = useParts((state) => state.parts);
  const [failed, setFailed] = useState<unknown>(null);
  const asks = until !== NOTHING;
  useEffect(() => {
    if (asks) readParts().catch(setFailed);
  }, [asks]);
  // What is around it says so, and tries again.
  if (failed !== null) throw failed;
  if (parts === null) return until;
  const Part = parts[part] as ComponentType<object>;
  return <Part {...props} />;
}
