/**
 * Every word a person reads, by key, so that a second language is one more set of files. `t` fills `{name}` places;
 * a missing key shows itself rather than nothing, so that it is found at once.
 */
import { debug } from "./texts/debug";
import { find } from "./texts/find";
import { forks } from "./texts/forks";
import { forms } from "./texts/forms";
import { git } from "./texts/git";
import { memory } from "./texts/memory";
import { query } from "./texts/query";
import { result } from "./texts/result";
import { safety } from "./texts/safety";
import { shell } from "./texts/shell";
import { storage } from "./texts/storage";
import { structure } from "./texts/structure";
import { task } from "./texts/task";
import { trace } from "./texts/trace";
import { whatIf } from "./texts/what-if";
import { versions } from "./texts/versions";

const catalogue: Readonly<Record<string, string>> = {
  ...shell,
  ...find,
  ...git,
  ...forms,
  ...debug,
  ...forks,
  ...storage,
  ...structure,
  ...safety,
  ...memory,
  ...query,
  ...result,
  ...task,
  ...trace,
  ...whatIf,
  ...versions,
};

export type TextKey =
  | keyof typeof shell
  | keyof typeof find
  | keyof typeof git
  | keyof typeof forms
  | keyof typeof debug
  | keyof typeof forks
  | keyof typeof storage
  | keyof typeof structure
  | keyof typeof safety
  | keyof typeof memory
  | keyof typeof query
  | keyof typeof result
  | keyof typeof task
  | keyof typeof trace
  | keyof typeof versions
  | keyof typeof whatIf;

export function t(key: TextKey, vars?: Readonly<Record<string, string | number>>): string {
  const text = catalogue[key] ?? key;
  if (!vars) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in vars ? String(vars[name]) : whole));
}

/** `t` with the singular key for one: `tn("x.one", "x.many", n)`; `{n}` is filled in. */
export function tn(
  one: TextKey,
  many: TextKey,
  n: number,
  vars?: Readonly<Record<string, string | number>>,
): string {
  return t(n === 1 ? one : many, { ...vars, n });
}
