/** JSON Pointer (RFC 6901) over immutable values. */
import { isObject, type Json, type JsonObject } from "./types";

export function pointerParts(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointerGet(value: Json | undefined, pointer: string): Json | undefined {
  let current: Json | undefined = value;
  for (const part of pointerParts(pointer)) {
    if (Array.isArray(current)) current = current[Number(part)];
    else if (isObject(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** A copy with `next` at the pointer; objects on the way are made when missing; `undefined` removes. */
export function pointerSet(value: Json, pointer: string, next: Json | undefined): Json {
  const set = (current: Json | undefined, parts: readonly string[]): Json | undefined => {
    const [part, ...rest] = parts;
    if (part === undefined) return next;
    if (Array.isArray(current)) {
      const index = part === "-" ? current.length : Number(part);
      const item = set(current[index], rest);
      return item === undefined ? current.toSpliced(index, 1) : current.toSpliced(index, 1, item);
    }
    const object: JsonObject = isObject(current) ? { ...current } : {};
    const item = set(Object.hasOwn(object, part) ? object[part] : undefined, rest);
    if (item === undefined) delete object[part];
    else object[part] = item;
    return object;
  };
  return set(value, pointerParts(pointer)) ?? null;
}
