/** Values and functions that stay the same from one render to the next: what is given them renders again only when it has to. */
import { useInsertionEffect, useRef, useState } from "react";
import { sameJson } from "./schema-form/json";

/** Answers the value of the render before while the new one is equal to it. */
export function useSame<T>(value: T): T {
  const kept = useRef(value);
  if (!sameJson(kept.current, value)) kept.current = value;
  return kept.current;
}

/** Answers one function for all renders, which does what the one of the last render does. For events only. */
export function useStable<Given extends unknown[], Answer>(
  work: (...given: Given) => Answer,
): (...given: Given) => Answer {
  const latest = useRef(work);
  useInsertionEffect(() => {
    latest.current = work;
  });
  return useState(
    () =>
      (...given: Given) =>
        latest.current(...given),
  )[0];
}
