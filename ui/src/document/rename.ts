/**
 * Renaming a state key or a node everywhere as one change: exactly in fields, expressions and edges, and in those places
 * of programs that a person has agreed to.
 */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { GraphDocument } from "./document";
import { nodeNameProblem, renameNode } from "./edits";
import { renameKey } from "./key-edits";
import { namingKinds, type DynamicTargets } from "./node-references";
import { op, type Patch } from "./patch";
import { pointerSet } from "./pointer";
import { renamedPrograms, usesOfKey, usesOfNode, type Use } from "./uses";

/** What can be renamed, gone to and looked for. */
export interface Named {
  readonly what: "key" | "node";
  readonly name: string;
}

export function usesOf(
  doc: GraphDocument,
  kinds: readonly NodeKind[],
  leads: DynamicTargets,
  { what, name }: Named,
): Use[] {
  return what === "key"
    ? usesOfKey(doc, kinds, name)
    : usesOfNode(doc, kinds, namingKinds(kinds), leads, name);
}

/** What is wrong with a new name; null when it can be used. */
export function renameProblem(
  doc: GraphDocument,
  { what, name }: Named,
  to: string,
): "empty" | "taken" | "reserved" | "sign" | null {
  if (what === "node") return nodeNameProblem(doc, to, name);
  if (to.trim() === "") return "empty";
  return to !== name && doc.has(`key:${to}`) ? "taken" : null;
}

/** Renames everywhere, in programs at the given uses only. Empty when the name cannot be used. */
export function renameEverywhere(
  doc: GraphDocument,
  kinds: readonly NodeKind[],
  { what, name }: Named,
  to: string,
  programs: readonly Use[],
): Patch {
  const exact = what === "key" ? renameKey(doc, name, to, kinds) : renameNode(doc, name, to, kinds);
  if (exact.ops.length === 0) return exact;
  const ops = [...exact.ops];
  for (const [record, texts] of renamedPrograms(programs, to)) {
    const id = what === "node" && record === `node:${name}` ? `node:${to}` : record;
    const at = ops.findLastIndex((each) => each.id === id && each.to !== null);
    const before = at >= 0 ? ops[at]?.to : doc.get(id);
    if (before === undefined || before === null) continue;
    const after = texts.reduce((value, { pointer, text }) => pointerSet(value, pointer, text), before);
    const found = ops[at];
    if (found) ops[at] = { ...found, to: after };
    else ops.push(op(id, before, after));
  }
  return { ops };
}
