/** The chain of writes that a value came from, as rows. */
import type { ValueWriteView } from "../../ipc/bindings/ValueWriteView";
import type { KeysReadView } from "../../ipc/bindings/KeysReadView";
import type { PossibleReadView } from "../../ipc/bindings/PossibleReadView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import type { WriterView } from "../../ipc/bindings/WriterView";
import { listed } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { readablePath } from "../parts/diff";
import { nodeList, nodeName, plain } from "../parts/format";
import { code, report } from "../parts/report";

/** Writers of which it is shown what they were given. */
const MOST_WRITERS = 3;
/** Letters of a packet. */
const MOST_INPUT = 80;

export interface Link {
  readonly write: ValueWriteView;
  /** Its place in the answer. */
  readonly place: number;
  readonly depth: number;
}

/** Each write right below the one that read it. */
export function chain(writes: readonly ValueWriteView[]): Link[] {
  const below = new Map<number | undefined, number[]>();
  writes.forEach((write, place) => {
    const siblings = below.get(write.readBy);
    if (siblings) siblings.push(place);
    else below.set(write.readBy, [place]);
  });
  const rows: Link[] = [];
  const waiting = [...(below.get(undefined) ?? [])].reverse().map((place) => ({ place, depth: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { place, depth } = next;
    const write = writes[place];
    if (!write) continue;
    rows.push({ write, place, depth });
    for (const child of [...(below.get(place) ?? [])].reverse())
      waiting.push({ place: child, depth: depth + 1 });
  }
  return rows;
}

/** Who wrote, in words. */
export function originText({ origin, writers }: ValueWriteView): string {
  const nodes = nodeList([...new Set(writers.map((writer) => writer.node))]);
  switch (origin) {
    case "task":
      return writers.length > 1
        ? t("debug.provenance.tasks", { nodes, n: writers.length })
        : t("debug.by", { nodes });
    case "input":
      return t("debug.source.input");
    case "command":
      return t("debug.provenance.command");
    case "edit":
      return writers.length > 0 ? t("debug.editedAs", { node: nodes }) : t("debug.edited");
    case "older":
      return t("debug.provenance.older");
    case "unknown":
      return t("debug.provenance.gone");
  }
}

/** What the writing tasks were given, each text once. */
export const givenTexts = ({ origin, writers }: ValueWriteView): readonly string[] =>
  origin === "task" ? [...new Set(writers.slice(0, MOST_WRITERS).map(givenText))] : [];

function givenText(writer: WriterView): string {
  if (writer.packet === true) {
    const given = writer.sentBy
      ? t("debug.provenance.packetOf", { nodes: nodeList(writer.sentBy.map(nodeName)) })
      : t("debug.provenance.packet");
    if (writer.input === undefined) return given;
    const { value, head, kind } = writer.input;
    return `${given}: ${value === undefined ? `${head ?? kind}…` : plain(value, MOST_INPUT)}`;
  }
  return readsText(writer.reads);
}

export interface PossibleReads {
  readonly keys: readonly PossibleReadView[];
  readonly more: boolean;
}

/** What the writers may have read where that was not seen, each key once. */
export function possibleReads(write: ValueWriteView): PossibleReads {
  const writers = write.writers.slice(0, MOST_WRITERS);
  const byKey = new Map(
    writers.flatMap((writer) => writer.mayHaveRead ?? []).map((read) => [read.key, read]),
  );
  return { keys: [...byKey.values()], more: writers.some((writer) => writer.mayHaveReadMore === true) };
}

/** The same in a line; empty where there is none. */
function possibleText(write: ValueWriteView): string[] {
  const { keys, more } = possibleReads(write);
  if (keys.length === 0) return [];
  const names = listed([
    ...keys.map(({ key, step }) => t("debug.provenance.keyAtStep", { key, step })),
    ...(more ? [t("debug.provenance.andMore")] : []),
  ]);
  return [t("debug.provenance.mayHaveRead", { keys: names })];
}

/** What the writers were answered, a line for each answer. */
export const answerTexts = (write: ValueWriteView): string[] =>
  write.writers.slice(0, MOST_WRITERS).flatMap((writer) =>
    (writer.answers ?? []).map(({ question, answer }) => {
      const said = plain(answer.value ?? answer.head ?? null, 160);
      return question
        ? t("debug.provenance.answer", { question: questionText(question), answer: said })
        : t("debug.provenance.answerOnly", { answer: said });
    }),
  );

/** What was asked: the text of a question that has one. */
function questionText({ value, head }: ValueView): string {
  const asked: unknown = value;
  const words = typeof asked === "object" && asked !== null && "question" in asked ? asked.question : asked;
  return plain(words ?? head ?? null, 160);
}

/** What a task read of the state, in a line. */
export function readsText(reads: KeysReadView): string {
  switch (reads.kind) {
    case "unknown":
      return t("debug.reads.unknown");
    case "all":
      return t("debug.reads.all");
    case "keys":
      return reads.keys.length === 0
        ? t("debug.reads.none")
        : tn("debug.reads.one", "debug.reads.many", reads.keys.length, { keys: listed(reads.keys) });
  }
}

const valueOf = (view: ValueWriteView["before"]): string =>
  view === undefined ? t("debug.state.notSet") : code(plain(view.value ?? view.head ?? null, 200));

/** A row as text: a write below the one that read it. */
function linkText({ write, depth }: Link): string {
  const { pointer, before, after, checkpoint } = write;
  const step = t("debug.stepN", { n: checkpoint.step });
  const facts = [
    step,
    originText(write),
    ...givenTexts(write),
    ...answerTexts(write),
    ...possibleText(write),
  ];
  return `${"  ".repeat(depth)}- ${code(readablePath(pointer))}: ${valueOf(before)} → ${valueOf(after)} (${facts.join(", ")})`;
}

/** The whole chain, for a report. */
export const provenanceText = (name: string, links: readonly Link[]): string =>
  report(t("debug.provenance.of", { name }), links.map(linkText).join("\n"));
