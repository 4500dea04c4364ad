/** JSON values and the places in them. */

/** A value as JSON has it. `undefined` stands for "not there". */
// oxlint-disable-next-line typescript/no-explicit-any -- as in the generated bindings: JSON is checked where it is read
export type Json = any;

/** A value in a few characters. */
export function brief(value: Json, length = 32): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Deep equality of JSON values; the order of object keys does not matter. */
export function sameJson(a: Json, b: Json): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = Object.keys(a).filter((key) => a[key] !== undefined);
  const right = Object.keys(b).filter((key) => b[key] !== undefined);
  return left.length === right.length && left.every((key) => key in b && sameJson(a[key], b[key]));
}

export function structuredCloneJson(value: Json): Json {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Escapes a property name for a JSON Pointer. */
export function escapeToken(token: string): string {
  return token.replace(/~/g, "~0").replace(/\//g, "~1");
}

/** The tokens of a JSON Pointer. */
export function pointerTokens(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replace(/~1/g, "/").replace(/~0/g, "~"));
}

/** The value at a JSON Pointer, or undefined. */
export function getPointer(value: Json, pointer: string): Json {
  let found = value;
  for (const token of pointerTokens(pointer)) {
    if (found === null || typeof found !== "object") return undefined;
    found = found[token];
  }
  return found;
}
