/**
 * Breakpoints of the open graph: read from the session, in the shape that a run is started with. They belong to the
 * person who debugs, not to the document, so they live in the session and never dirty the file.
 */
import { doc } from "../document/store";
import { type Breakpoint, useSession } from "../state/session";

type Session = ReturnType<typeof useSession.getState>;

const NONE: readonly Breakpoint[] = [];

export function currentBreakpoints(
  session: Pick<Session, "graphKey" | "breakpoints">,
): readonly Breakpoint[] {
  return session.graphKey === null ? NONE : (session.breakpoints[session.graphKey] ?? NONE);
}

export function useBreakpoints(): readonly Breakpoint[] {
  return useSession(currentBreakpoints);
}

/** Where a run is to stop. Breakpoints on nodes that are gone stay in the list but are not sent. */
export function breaksOf(
  points: readonly Breakpoint[],
  exists: (node: string) => boolean,
): { breakBefore: string[]; breakAfter: string[] } {
  const of = (when: Breakpoint["when"]) =>
    points
      .filter((point) => point.enabled && point.when === when && exists(point.node))
      .map((point) => point.node);
  return { breakBefore: of("before"), breakAfter: of("after") };
}

export function currentBreaks(): { breakBefore: string[]; breakAfter: string[] } {
  return breaksOf(currentBreakpoints(useSession.getState()), (node) => doc.has(`node:${node}`));
}
