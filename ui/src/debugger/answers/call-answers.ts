/**
 * Decisions about tool calls and the answer that holds them. A form fills in the decision about the one call, or an object with
 * one for each, by number from 1; the asker reads a list, in a record or by itself.
 */
import type { AskedCalls } from "../../ipc/bindings/AskedCalls";
import { isObject } from "../parts/diff";

/** The list of decisions in an answer; null where it has none. */
function listIn({ form }: AskedCalls, answer: unknown): readonly unknown[] | null {
  if (form === "decision") return [answer];
  const list = form === "decisions" && isObject(answer) ? answer["decisions"] : answer;
  return Array.isArray(list) ? list : null;
}

/** What the form shows of an answer; undefined where it is not one about these calls. */
export function decisionsIn(calls: AskedCalls | undefined, answer: unknown): unknown {
  if (calls === undefined) return answer;
  const list = listIn(calls, answer);
  if (list?.length !== calls.calls.length) return undefined;
  if (list.length === 1) return list[0] ?? undefined;
  const decided = list.flatMap((decision, at) =>
    decision === null || decision === undefined ? [] : [[String(at + 1), decision] as const],
  );
  return Object.fromEntries(decided);
}

/** The answer with what a form holds; a call without a decision is null in it. */
export function answerOf(calls: AskedCalls | undefined, filled: unknown): unknown {
  if (calls === undefined) return filled;
  const decided = calls.calls.length > 1 && isObject(filled) ? filled : { "1": filled };
  const list = calls.calls.map((_, at) => decided[String(at + 1)] ?? null);
  if (calls.form === "decision") return list[0] ?? undefined;
  return calls.form === "decisions" ? { decisions: list } : list;
}
