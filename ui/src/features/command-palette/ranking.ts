/**
 * The order of the command palette, and which entry `Enter` takes. What destroys something comes last and is chosen by
 * nobody but the person: by its name, or by going to it.
 */
import { fuzzyScore, plainName } from "../../components/fuzzy";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { namesOfCommand, t } from "../../lib/texts";
import type { Command } from "../../state/commands";
import { keysOf } from "../../state/keymap";

export interface Ranked {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  /** A second line, such as a path. */
  readonly text?: string | undefined;
  /** Other names that it is known by. */
  readonly names?: readonly string[] | undefined;
  /** Something to do, which comes before a node or an example of the same name. */
  readonly action?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

const SHOWN = 80;
/** More than a match at the beginning of a text and a shorter text are worth together. */
const ACTION = 200;
/** Another name is worth less than the title. */
const NAME = 100;
/** A name that is typed whole is meant. */
const WHOLE = 200;
/** Letters of its title that must be typed of a destructive entry before it can be the first. */
const NAMED = 4;

/** What the palette lists of the commands. */
export function actionsOf(commands: readonly Command[]) {
  return commands
    .filter((command) => command.hidden !== true)
    .map(({ id, group, title, destructive, run }) => ({
      id,
      group,
      title,
      names: namesOfCommand(id),
      action: true,
      destructive,
      shortcut: keysOf(id)[0],
      run,
    }));
}

/** The node kinds, to be added: by their own names and by those that people bring along. */
export function kindEntries(kinds: readonly NodeKind[]) {
  return kinds.map(({ kind, title, icon, aliases }) => ({
    id: `kind:${kind}`,
    kind,
    icon,
    group: t("forms.search.new"),
    title: t("forms.command.addKind", { kind: title }),
    names: [title, ...aliases],
  }));
}

/** The entries that fit, best first. Without a query what was used last comes first. */
export function rankEntries<E extends Ranked>(
  entries: readonly E[],
  query: string,
  used: readonly string[],
): E[] {
  const place = (entry: E): number => {
    const at = used.indexOf(entry.id);
    return at < 0 ? used.length : at;
  };
  if (query.trim() === "") return entries.toSorted((a, b) => last(a) - last(b) || place(a) - place(b));
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, query) }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => held(a.entry, query) - held(b.entry, query) || b.score - a.score)
    .slice(0, SHOWN)
    .map(({ entry }) => entry);
}

/** Which of the ranked entries is chosen at first; -1 when the person has to choose. */
export function firstChosen(found: readonly Ranked[], query: string): number {
  const first = found[0];
  return first === undefined || held(first, query) > 0 ? -1 : 0;
}

function scoreOf(entry: Ranked, query: string): number {
  const wanted = plainName(query);
  const ofName = (name: string) =>
    Math.max(fuzzyScore([name], query), fuzzyScore([plainName(name)], wanted)) +
    (plainName(name) === wanted ? WHOLE : -NAME);
  const best = Math.max(
    fuzzyScore([entry.title, entry.text ?? "", entry.group], query),
    ...[entry.title, ...(entry.names ?? [])].map(ofName),
  );
  return best + (entry.action === true ? ACTION : 0);
}

const last = (entry: Ranked): number => (entry.destructive === true ? 1 : 0);

/** 1 for a destructive entry that the query does not clearly name. */
function held(entry: Ranked, query: string): number {
  if (entry.destructive !== true) return 0;
  const wanted = query.trim().toLowerCase();
  const named = wanted.length >= NAMED && entry.title.toLowerCase().startsWith(wanted);
  return named ? 0 : 1;
}
