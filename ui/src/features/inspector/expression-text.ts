/** Which texts have no value worth a line. */

/** Does it say the same with any state? */
export function isConstant(text: string, template: boolean): boolean {
  return template && !/\{\{|\{%/.test(text);
}

/** Does it use a name that only the node knows while it runs, such as the item of a list? */
export function seesMore(text: string): boolean {
  return /(?<![\w.])(?:item|index|answer|result|found|args|loop)\b/.test(text);
}
