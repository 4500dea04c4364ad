/** Which of the waiting questions are shown, in which order, and which are alike. */
import { extrasOf } from "../../debugger/answers/question-details";
import { choicesOf } from "../../debugger/answers/choices";
import { questionKey } from "../../debugger/model/inbox";
import { isObject } from "../../debugger/parts/diff";
import type { AskedCall } from "../../ipc/bindings/AskedCall";
import type { AskedCalls } from "../../ipc/bindings/AskedCalls";
import type { Question } from "../../ipc/bindings/Question";
import { grouped } from "../../lib/grouped";

const HOUR = 3_600_000;

/** Longer than this it has waited. */
export const AGES = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR } as const;
/** Within this its time is over. */
export const DEADLINES = { hour: HOUR, day: 24 * HOUR, any: Infinity } as const;
export const SORTS = ["oldest", "newest", "deadline", "graph", "cost"] as const;
/** More than this the thread has cost, in the currency in which it cost most. */
export const COSTS = [0, 0.01, 0.1, 1, 10] as const;

export interface Filter {
  readonly words: string;
  readonly graph: string | null;
  readonly node: string | null;
  readonly age: keyof typeof AGES | null;
  readonly deadline: keyof typeof DEADLINES | null;
  readonly cost: (typeof COSTS)[number] | null;
  /** Only what this person is to answer. */
  readonly mine: boolean;
  readonly sort: (typeof SORTS)[number];
  /** Alike questions are one row. */
  readonly grouped: boolean;
  /** Those that were put off, in place of the others. */
  readonly snoozed: boolean;
}

export const EVERYTHING: Filter = {
  words: "",
  graph: null,
  node: null,
  age: null,
  deadline: null,
  cost: null,
  mine: false,
  sort: "oldest",
  grouped: false,
  snoozed: false,
};

/** How many conditions hold back questions. */
export const conditionsOf = (filter: Filter): number =>
  [filter.graph, filter.node, filter.age, filter.deadline, filter.cost, filter.mine || null].filter(
    (one) => one !== null,
  ).length;

/** Remembers what was worked out of a question for as long as there is the question. */
function remembered<T>(work: (question: Question) => T): (question: Question) => T {
  const known = new WeakMap<Question, T>();
  return (question) => {
    const before = known.get(question);
    if (before !== undefined) return before;
    const result = work(question);
    known.set(question, result);
    return result;
  };
}

const detailsOf = remembered((question) => {
  const { who, deadline } = extrasOf(question);
  const { to = [], escalated = false } = question.delegation ?? {};
  // Those to whom it was handed are asked in place of the others, or besides them; without names, everybody is.
  const isAdded = to.length === 0 || escalated;
  const names = !isAdded ? to : who.length === 0 ? [] : [...who, ...to];
  return {
    who: names.map((name) => name.trim().toLowerCase()),
    deadline: deadline === undefined ? Infinity : Date.parse(deadline),
    since: Date.parse(question.since),
  };
});

const wordsIn = remembered((question) =>
  [
    question.text,
    question.threadTitle,
    question.graphName,
    question.node,
    ...(question.delegation?.to ?? []),
    isObject(question.context) ? JSON.stringify(question.context) : "",
  ]
    .join("\n")
    .toLowerCase(),
);

const kinds = new Map<string, number>();

/** Equal for questions of one node that offer the same. */
const likeness = remembered((question) => {
  const kind = JSON.stringify([
    question.graphPath ?? question.graphName,
    question.node,
    choicesOf(question).map(({ label, value }) => [label, value as unknown]),
    question.schema ?? null,
    // To approve one tool is not to approve another.
    question.calls?.calls.map(({ name }) => name) ?? null,
  ]);
  const known = kinds.get(kind) ?? kinds.size;
  kinds.set(kind, known);
  return known;
});

export const isAsleep = ({ snoozedUntil }: Question, now: number): boolean => (snoozedUntil ?? 0) > now;

/** What threads have cost, by thread; null while nobody has asked. */
export type Costs = ReadonlyMap<string, number> | null;

/** The questions that the filter lets through, in its order. */
export function listed(
  questions: readonly Question[],
  filter: Filter,
  { me, now, costs = null }: { me: string | undefined; now: number; costs?: Costs },
): readonly Question[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const name = me?.trim().toLowerCase();
  const age = filter.age === null ? null : now - AGES[filter.age];
  const deadline = filter.deadline === null ? null : now + DEADLINES[filter.deadline];
  const costOf = ({ threadId }: Question) => costs?.get(threadId) ?? 0;
  const found = questions.filter((question) => {
    const details = detailsOf(question);
    return (
      isAsleep(question, now) === filter.snoozed &&
      (filter.graph === null || question.graphName === filter.graph) &&
      (filter.node === null || question.node === filter.node) &&
      (age === null || details.since <= age) &&
      (deadline === null || (Number.isFinite(details.deadline) && details.deadline <= deadline)) &&
      (filter.cost === null || costOf(question) > filter.cost) &&
      (!filter.mine || details.who.length === 0 || (name !== undefined && details.who.includes(name))) &&
      words.every((word) => wordsIn(question).includes(word))
    );
  });
  if (filter.sort === "newest") found.reverse();
  if (filter.sort === "deadline") found.sort((a, b) => byDeadline(a, b));
  if (filter.sort === "graph")
    found.sort((a, b) => a.graphName.localeCompare(b.graphName) || a.node.localeCompare(b.node));
  if (filter.sort === "cost") found.sort((a, b) => costOf(b) - costOf(a));
  return found;
}

function byDeadline(a: Question, b: Question): number {
  const [one, other] = [detailsOf(a).deadline, detailsOf(b).deadline];
  return one === other ? 0 : one - other;
}

/** A row of the list: one question, or several that are alike. */
export interface DeskRow {
  readonly key: string;
  readonly questions: readonly [Question, ...Question[]];
}

/** The rows of the list; alike questions stand where the first of them does. */
export function rowsOf(questions: readonly Question[], isGrouped: boolean): readonly DeskRow[] {
  const single = (question: Question): DeskRow => ({ key: questionKey(question), questions: [question] });
  if (!isGrouped) return questions.map(single);
  return [...grouped(questions, likeness)].map(([key, alike]) =>
    alike.length === 1 ? single(alike[0]) : { key: `alike-${key}`, questions: alike },
  );
}

/** The questions of the step that asks this one, itself among them. */
export const stepOf = (questions: readonly Question[], question: Question): readonly Question[] =>
  questions.filter(
    ({ threadId, checkpointId }) => threadId === question.threadId && checkpointId === question.checkpointId,
  );

/** What a question is about, by name: what it shows of the state, and its own values. */
const about = remembered((question): ReadonlyMap<string, string> => {
  const entries = isObject(question.context) ? Object.entries(question.context) : [];
  const line = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return new Map(entries.map(([name, value]) => [name, line(value)]));
});

/** Names of what differs between alike questions; what is the same in all of them says nothing. */
export function differing(questions: readonly Question[]): readonly string[] {
  const values = new Map<string, string | undefined>();
  const names = new Set<string>();
  for (const name of new Set(questions.flatMap((question) => [...about(question).keys()]))) {
    values.set(name, questions[0] && about(questions[0]).get(name));
    if (questions.some((question) => about(question).get(name) !== values.get(name))) names.add(name);
  }
  return [...names];
}

/** The tool calls of alike questions, with what is the same in all of them. */
export function commonCalls(questions: readonly [Question, ...Question[]]): AskedCalls | undefined {
  const [first] = questions;
  if (first.calls === undefined) return undefined;
  const calls = first.calls.calls.map(({ description, ...call }, at): AskedCall => {
    const each = questions.map((question) => question.calls?.calls[at]);
    const args: unknown = call.args;
    const same = Object.entries(isObject(args) ? args : {}).filter(([name, value]) =>
      each.every((other) => {
        const given: unknown = other?.args;
        return isObject(given) && JSON.stringify(given[name]) === JSON.stringify(value);
      }),
    );
    const isSaid = description !== undefined && each.every((other) => other?.description === description);
    return { ...call, args: Object.fromEntries(same), ...(isSaid && { description }) };
  });
  return { ...first.calls, calls };
}

export const valueOf = (question: Question, name: string): string => about(question).get(name) ?? "";
