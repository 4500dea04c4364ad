/**
 * What appears by itself, such as a question, cannot be hit at once: a press within the first moments was meant for what stood
 * there before. So the buttons are dimmed, and clicks and keys do nothing until then.
 */
import { useEffect, useState } from "react";

export const GUARD_MS = 300;

/** True for the first moments of the component that calls it, when it appeared by itself. */
export function useGuard(byItself: boolean): boolean {
  const [guarded, setGuarded] = useState(byItself);
  useEffect(() => {
    if (!guarded) return;
    const timer = setTimeout(() => setGuarded(false), GUARD_MS);
    return () => clearTimeout(timer);
  }, [guarded]);
  return guarded;
}

/** The same for what comes and goes in one place: true from the moment in which it comes. */
export function useGuardOf(shown: boolean): boolean {
  const [past, setPast] = useState(shown);
  useEffect(() => {
    if (past === shown) return undefined;
    const timer = setTimeout(() => setPast(shown), shown ? GUARD_MS : 0);
    return () => clearTimeout(timer);
  }, [past, shown]);
  return shown && !past;
}
