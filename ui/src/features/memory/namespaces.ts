/** Namespaces as text: labels with slashes between. A label may itself hold a slash; such a one is written as `\/`. */
import type { ValueView } from "../../ipc/bindings/ValueView";
import { preview } from "../../debugger/parts/format";

export const placeText = (namespace: readonly string[]): string =>
  namespace.map((label) => label.replace(/[\\/]/g, (sign) => `\\${sign}`)).join("/");

export function placeOf(text: string): string[] {
  const labels: string[] = [];
  let label = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === "\\" && at + 1 < text.length) label += text[++at];
    else if (sign === "/") {
      labels.push(label);
      label = "";
    } else label += sign;
  }
  labels.push(label);
  return labels.map((one) => one.trim()).filter((one) => one !== "");
}

/** One line of what an item holds. */
export const lineOf = (value: ValueView): string => value.head ?? preview(value.value);

/** Which item: two may have one key in different namespaces. */
export const idOf = (item: { namespace: readonly string[]; key: string }): string =>
  JSON.stringify([item.namespace, item.key]);
