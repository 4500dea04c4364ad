/** What another window did to the open document, beside what is edited here. */
import { listed } from "../lib/intl";
import { t } from "../lib/texts";
import type { DocumentRecord } from "./document";
import { same, type Patch } from "./patch";
import { sectionOf, type Json } from "./types";

export interface Elsewhere {
  /** Records that the other window changed. */
  readonly theirs: readonly string[];
  /** Those of them that were changed here too, to something else. */
  readonly both: readonly string[];
}

/** Compares the host's records with ours; `waiting` are the edits that the host does not have. */
export function changedElsewhere(
  host: readonly DocumentRecord[],
  mine: readonly DocumentRecord[],
  waiting: Patch,
): Elsewhere {
  const now = new Map(host.map(({ id, value }) => [id, value]));
  const ours = new Map(mine.map(({ id, value }) => [id, value]));
  const before = new Map<string, Json>();
  for (const { id, from } of waiting.ops) if (!before.has(id)) before.set(id, (from ?? null) as Json);
  const theirs = [...new Set([...now.keys(), ...ours.keys(), ...before.keys()])].filter((id) => {
    const was = before.has(id) ? before.get(id) : ours.get(id);
    return !same(was ?? null, now.get(id) ?? null);
  });
  const both = theirs.filter((id) => before.has(id) && !same(ours.get(id) ?? null, now.get(id) ?? null));
  return { theirs, both };
}

/** Records that are listed by name; more are only counted. */
const NAMED = 8;

/** Lists records by name. A node and its place are one. */
export function recordNames(ids: readonly string[]): string {
  const names = [
    ...new Set(
      ids.map((id) => {
        const name = sectionOf(id)?.name;
        if (name === undefined) return t("git.record.doc");
        return name
          .replaceAll("__start__", t("forms.start"))
          .replaceAll("__end__", t("forms.end"))
          .replace("->", " → ");
      }),
    ),
  ];
  const more = names.length - NAMED;
  return listed(more > 0 ? [...names.slice(0, NAMED), `+${more}`] : names);
}
