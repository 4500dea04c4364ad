/**
 * Ways without an edge on the canvas: those that only runs have shown, and what a person can make of one. A program's
 * goals stand in its settings; an edge and a goal can be made of each other.
 */
import { readOverlay } from "../debugger/overlay/overlay";
import { edgeKey } from "../debugger/overlay/overlay-model";
import { Draft } from "../document/draft";
import type { GraphDocument } from "../document/document";
import { canConnect, connect, inTurn } from "../document/edits";
import { goalsOf, withGoals, type Jump, type Schemas } from "../document/node-references";
import type { Patch } from "../document/patch";
import { edgeOf, END, isObject, nodeOf, START } from "../document/types";
import type { Scene } from "./window";

/** Ways that a run has gone and that nothing in the document says. */
export function seenJumps(scene: Scene): Jump[] {
  const { doc } = scene;
  const known = new Set(scene.jumps().map(({ from, to }) => edgeKey(from, to)));
  return [...readOverlay().edges].flatMap(([key, { times }]): Jump[] => {
    // The way of a node that chose for itself, or one of which it is not known whether a wire was followed.
    const [from = "", to = ""] = key.startsWith("jump|") ? key.split("|").slice(1) : key.split("\u0000");
    if (times === 0 || from === START || known.has(edgeKey(from, to)) || from === to) return [];
    // Only what its settings or its program lead on can go where no edge goes.
    if (!scene.leading.has(nodeOf(doc.get(`node:${from}`)).kind) || (to !== END && !doc.has(`node:${to}`)))
      return [];
    const drawn = scene
      .edgesOf(from)
      .some((edge) => scene.linesOf(edge).some((line) => line.from === from && line.to === to));
    return drawn ? [] : [{ id: `jump|${from}|${to}`, from, to, how: "seen" }];
  });
}

/** An edge that is always followed becomes a goal of the program it leaves. Empty for kinds without goals. */
export function edgeToGoal(doc: GraphDocument, edge: string, schemas: Schemas): Patch {
  const view = edgeOf(doc.get(`edge:${edge}`));
  const [from = "", to = ""] = [view.sources[0], view.targets[0]];
  const draft = new Draft(doc);
  if (view.form !== "plain" || !addGoal(draft, from, to, schemas)) return { ops: [] };
  draft.remove(`edge:${edge}`);
  return draft.patch();
}

/** Says in the settings what only a run has shown. */
export function sayGoal(doc: GraphDocument, { from, to }: Jump, schemas: Schemas): Patch {
  const draft = new Draft(doc);
  addGoal(draft, from, to, schemas);
  return draft.patch();
}

function addGoal(draft: Draft, from: string, to: string, schemas: Schemas): boolean {
  const record = draft.get(`node:${from}`);
  const goals = goalsOf(record, schemas);
  if (goals === null || !isObject(record) || to === "" || !canConnect(from, to)) return false;
  if (!goals.names.includes(to))
    draft.set(`node:${from}`, withGoals(record, goals.field, [...goals.names, to]));
  return true;
}

/** Takes a goal away; empty when no list of goals says it. */
export function removeGoal(doc: GraphDocument, { from, to }: Jump, schemas: Schemas): Patch {
  const draft = new Draft(doc);
  const record = doc.get(`node:${from}`);
  const goals = goalsOf(record, schemas);
  if (goals !== null && isObject(record) && goals.names.includes(to))
    draft.set(
      `node:${from}`,
      withGoals(
        record,
        goals.field,
        goals.names.filter((name) => name !== to),
      ),
    );
  return draft.patch();
}

/** The goal becomes an edge that is always followed. */
export function goalToEdge(doc: GraphDocument, jump: Jump, schemas: Schemas): Patch {
  return inTurn(
    doc,
    (each) => removeGoal(each, jump, schemas),
    (each) => connect(each, jump.from, jump.to),
  );
}
