/** The list that a person decides about, by what it is. */
import type { AccessView } from "../../ipc/bindings/AccessView";
import type { AccessWhat } from "../../ipc/bindings/AccessWhat";
import type { Want } from "../../ipc/bindings/Want";

/** What can do the most comes first. */
const WHATS: readonly AccessWhat[] = ["program", "mcp", "folder", "host", "connection", "key", "variable"];

export const keyOf = (access: AccessView): string => `${access.what}:${access.name}`;

export interface Group<T> {
  readonly what: AccessWhat;
  readonly items: readonly T[];
}

export function grouped<T extends { readonly access: AccessView }>(items: readonly T[]): Group<T>[] {
  return WHATS.map((what) => ({ what, items: items.filter((item) => item.access.what === what) })).filter(
    (group) => group.items.length > 0,
  );
}

/** Not ticked for anybody: what reaches into the own network or machine is decided one by one. */
export function isGrave(want: Want): boolean {
  const { what, name } = want.access;
  return want.inside || what === "program" || what === "mcp" || what === "folder" || /(^|@)\*$/.test(name);
}
