/** A server as it is typed into one field: an address, or a program with its arguments. */

export type Typed = { readonly url: string } | { readonly command: string; readonly args: string[] };

/** Splits at blanks outside of quotes; a backslash keeps the sign behind it. Null while there is nothing. */
export function typedServer(text: string): Typed | null {
  const trimmed = text.trim();
  if (/^https?:\/\//i.test(trimmed)) return { url: trimmed };
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < trimmed.length; at += 1) {
    const sign = trimmed.charAt(at);
    const next = trimmed.charAt(at + 1);
    if (sign === "\\" && quote !== "'" && /["'\\ ]/.test(next)) {
      word = (word ?? "") + next;
      at += 1;
    } else if (quote !== "") {
      if (sign === quote) quote = "";
      else word = (word ?? "") + sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= "";
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + sign;
  }
  if (word !== null) words.push(word);
  const [command, ...args] = words;
  return command === undefined || command === "" ? null : { command, args };
}

/** A program with its arguments as one line that reads back as the same words. */
export function commandLine(command: string, args: readonly string[]): string {
  const word = (text: string) =>
    text !== "" && !/[\s"'\\]/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
  return [command, ...args].map(word).join(" ");
}

/** A name for it: that of the program's last part, or of the host. */
export function suggestedName(typed: Typed | null): string {
  if (typed === null) return "";
  if ("url" in typed) {
    try {
      return new URL(typed.url).hostname.split(".").at(-2) ?? new URL(typed.url).hostname;
    } catch {
      return "";
    }
  }
  const telling = typed.args.find((arg) => !arg.startsWith("-")) ?? typed.command;
  const last = telling.split(/[/\\]/).at(-1) ?? "";
  return last.replace(/^(mcp-)?server-|\.[a-z]+$/g, "").replace(/@[\w.]+$/, "");
}
