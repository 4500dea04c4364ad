/**
 * Every word that a person reads, by key. English is built in, and its keys are the type of all others; another language is
 * a catalogue of its own, which `language.ts` loads. A text that it lacks is English; a key that is none shows itself, so
 * that it is found at once.
 *
 * The words are those of the language that is spoken now, so `t` is called while something is shown and never when a
 * module is loaded.
 */
import { isOne, listed, number, type Join } from "./intl";
import { code } from "./texts/code";
import { commandNames } from "./texts/command-names";
import { debug } from "./texts/debug";
import { fileText } from "./texts/file-text";
import { find } from "./texts/find";
import { forks } from "./texts/forks";
import { forms } from "./texts/forms";
import { git } from "./texts/git";
import { help } from "./texts/help";
import { imports } from "./texts/import";
import { language } from "./texts/language";
import { memory } from "./texts/memory";
import { overview } from "./texts/overview";
import { query } from "./texts/query";
import { report } from "./texts/report";
import { result } from "./texts/result";
import { safety } from "./texts/safety";
import { seen } from "./texts/seen";
import { shell } from "./texts/shell";
import { storage } from "./texts/storage";
import { structure } from "./texts/structure";
import { task } from "./texts/task";
import { evaluations } from "./texts/evaluations";
import { tests } from "./texts/tests";
import { trace } from "./texts/trace";
import { whatIf } from "./texts/what-if";
import { variants } from "./texts/variants";
import { versions } from "./texts/versions";
import { wires } from "./texts/wires";

export const english = {
  ...shell,
  ...code,
  ...fileText,
  ...find,
  ...git,
  ...forms,
  ...debug,
  ...forks,
  ...storage,
  ...structure,
  ...safety,
  ...help,
  ...imports,
  ...language,
  ...memory,
  ...overview,
  ...query,
  ...report,
  ...result,
  ...seen,
  ...task,
  ...evaluations,
  ...tests,
  ...trace,
  ...whatIf,
  ...variants,
  ...versions,
  ...wires,
};

export type TextKey = keyof typeof english;

/** What the settings say of a storage backend. */
export interface BackendWords {
  readonly title: string;
  readonly summary: string;
}

/** The words of a language other than English. */
export interface Catalogue {
  /** Texts by key. */
  readonly texts: Readonly<Partial<Record<TextKey, string>>>;
  /** Other names that the command palette finds commands by. */
  readonly commandNames: Readonly<Record<string, readonly string[]>>;
  /** Other names that node kinds are found by, beside those that the workbench gives. */
  readonly kindAliases: Readonly<Record<string, readonly string[]>>;
  /** Storage backends, by their scheme. */
  readonly backends: Readonly<Record<string, BackendWords>>;
  /** Texts of node kinds, forms and problems, which come from the workbench in English: what it says for an English one. */
  readonly rust: (english: string) => string | undefined;
}

const ENGLISH: Catalogue = {
  texts: english,
  commandNames,
  kindAliases: {},
  backends: {},
  rust: () => undefined,
};

let words = ENGLISH;

/** Takes the words of a language; null for English. */
export function setWords(catalogue: Catalogue | null): void {
  words = catalogue ?? ENGLISH;
}

type Vars = Readonly<Record<string, string | number>>;

/** Fills `{name}` places. */
function fill(text: string, vars: Vars | undefined): string {
  if (!vars) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in vars ? String(vars[name]) : whole));
}

export function t(key: TextKey, vars?: Vars): string {
  return fill(words.texts[key] ?? english[key] ?? key, vars);
}

/** `t` with the singular key where the language takes it for this number: `tn("x.one", "x.many", n)`; `{n}` is filled in. */
export function tn(one: TextKey, many: TextKey, n: number, vars?: Vars): string {
  return t(isOne(n) ? one : many, { ...vars, n: number(n) });
}

/** Other names of a command, for the command palette; the English ones find it in every language. */
export function namesOfCommand(id: string): readonly string[] {
  const own = words.commandNames[id] ?? [];
  const known = commandNames[id] ?? [];
  return own === known ? known : [...own, ...known];
}

/** Names that a node kind is found by: those of the workbench, and those of the language. */
export function aliasesOf(kind: {
  readonly kind: string;
  readonly aliases: readonly string[];
}): readonly string[] {
  const own = words.kindAliases[kind.kind];
  return own === undefined ? kind.aliases : [...own, ...kind.aliases];
}

/** What is said of a storage backend: the workbench's words, or the language's. */
export function backendWords(backend: BackendWords & { readonly kind: string }): BackendWords {
  const { title, summary } = backend;
  return words.backends[backend.kind] ?? { title: fromWorkbench(title), summary: fromWorkbench(summary) };
}

/** A text of the workbench with what was filled into it. */
export interface TextPattern {
  readonly pattern: string;
  readonly args: { readonly [place: string]: TextArg };
}

/** The same in every language, a text of its own, or one thing after another. */
type TextArg = string | TextPattern | { readonly join: Join; readonly list: readonly TextArg[] };

/** A problem or a diagnostic of the workbench. */
interface Told {
  readonly message: string;
  readonly remedy?: string;
  readonly texts?: { readonly message?: TextPattern; readonly remedy?: TextPattern };
}

/** What stands at a place of a text of the workbench, in the language of the interface. */
function argument(arg: TextArg): string {
  if (typeof arg === "string") return arg;
  if ("list" in arg) return listed(arg.list.map(argument), arg.join);
  return filledIn(words.rust(arg.pattern) ?? arg.pattern, arg);
}

function filledIn(text: string, { args }: TextPattern): string {
  return fill(text, Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, argument(arg)])));
}

/**
 * A text that the workbench gives in English (kinds, forms, problems) in the language of the interface. Where values were
 * filled into it, `filled` holds the text without them, and the values.
 */
export function fromWorkbench(text: string, filled?: TextPattern | null): string;
export function fromWorkbench(text: string | undefined, filled?: TextPattern | null): string | undefined;
export function fromWorkbench(text: string | undefined, filled?: TextPattern | null): string | undefined {
  if (text === undefined) return undefined;
  const pattern = filled ? words.rust(filled.pattern) : undefined;
  return filled && pattern !== undefined ? filledIn(pattern, filled) : (words.rust(text) ?? text);
}

/** A problem or a diagnostic of the workbench, in the language of the interface. */
export function problemText<P extends Told>(problem: P): P {
  const { message, remedy, texts } = problem;
  return {
    ...problem,
    message: fromWorkbench(message, texts?.message),
    ...(remedy !== undefined && { remedy: fromWorkbench(remedy, texts?.remedy) }),
  };
}
