/** Runs a graph by the command line. */
import { t } from "../../../lib/texts";
import type { Json } from "../../../document/types";
import type { CodeFacts } from "./facts";
import { choicesNote, inline, pretty } from "./parts";

/** A word of a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const argument = (value: Json) => quoted(pretty(value));

export function shellCode({ path, input, context, asking, mayAsk }: CodeFacts): string {
  const parts = [
    `superstep run ${quoted(path)}`,
    ...(mayAsk ? ['--thread "$thread"'] : []),
    `--input ${argument(input)}`,
    ...(context === null ? [] : [`--context ${argument(context)}`]),
  ];
  const run = parts.join(" \\\n  ");
  if (!mayAsk) return `${run}\n`;
  const answers = asking.map((one, index) => {
    const choices = choicesNote(one);
    const note = [inline(t("code.answers", { node: one.node })), ...(choices === null ? [] : [choices])];
    const line = `superstep resume "$thread" --answer ${argument(one.answer)}`;
    // Which of several asks first depends on the run: the others stand ready.
    return [...note.map((text) => `# ${text}`), index === 0 ? line : line.replace(/^/gm, "# ")].join("\n");
  });
  const others = answers.length > 0 ? answers : [`# superstep resume "$thread" --answer '"…"'`];
  return [`thread="run-$(date +%s)"`, run, `\n# ${t("code.shellAsks")}`, ...others, ""].join("\n");
}
