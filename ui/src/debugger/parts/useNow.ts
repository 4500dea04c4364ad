/** The time, again every so often, for texts such as "3 min ago" and the elapsed time of a run. */
import { useEffect, useState } from "react";

export function useNow(everyMillis: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMillis === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMillis);
    return () => clearInterval(timer);
  }, [everyMillis]);
  return now;
}
