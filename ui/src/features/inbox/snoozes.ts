/** Questions that a person has put off: kept in this browser, by question, until when. */
import { create } from "zustand";
import { questionKey } from "../../debugger/model/inbox";
import { isObject } from "../../debugger/parts/diff";
import type { Snooze } from "../../debugger/run/answering";
import type { Question } from "../../ipc/bindings/Question";
import type { Snoozes } from "./desk";

const STORE = "superstep.snoozed";

function stored(): Snoozes {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    if (!isObject(value)) return {};
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"),
    );
  } catch {
    return {};
  }
}

export const useSnoozes = create<{ readonly until: Snoozes }>(() => ({ until: stored() }));

const HOUR = 3_600_000;

/** Nine in the morning of the day after this time. */
export function nextMorning(now: number): number {
  const at = new Date(now);
  at.setDate(at.getDate() + 1);
  at.setHours(9, 0, 0, 0);
  return at.getTime();
}

/** Puts questions off, or brings them back. */
export function snooze(questions: readonly Question[], how: Snooze): void {
  const now = Date.now();
  const kept = Object.entries(useSnoozes.getState().until).filter(([, at]) => at > now);
  const next = { ...Object.fromEntries(kept) };
  const until = how === "hour" ? now + HOUR : how === "tomorrow" ? nextMorning(now) : 0;
  for (const question of questions) next[questionKey(question)] = until;
  useSnoozes.setState({ until: next });
  try {
    localStorage.setItem(STORE, JSON.stringify(next));
  } catch {
    // Without storage they last as long as the window.
  }
}
