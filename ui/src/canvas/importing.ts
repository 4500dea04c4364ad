/** Graphs that come into the open one: merged at once, or asked about where names are taken or it could be opened as well. */
import { create } from "zustand";
import type { DocumentRecord } from "../document/document";
import type { Point } from "../document/edits";
import { clashesOf, mergeGraph, readGraph, type Clashes, type Merging } from "../document/merge";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { END, positionOf, START } from "../document/types";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import { clearForAll } from "./adding";
import { union } from "./geometry";
import { knownKinds } from "./kinds";
import { scene } from "./scene";
import { setCanvas } from "./store";

export interface Coming {
  /** What a person calls it: its file, or its own name. */
  readonly name: string;
  readonly records: readonly DocumentRecord[];
  readonly clashes: Clashes;
  readonly place: Point;
  /** Opens it as a graph of its own instead. */
  readonly open?: (() => void) | undefined;
}

/** The graph that the dialog asks about. */
export const useComing = create<{ readonly coming: Coming | null }>(() => ({ coming: null }));

/** From the nodes to those that come. */
const GAP = 64;

/** Left below everything that is there. */
function placeBeside(): Point {
  const names = [...doc.names("node"), START, END];
  const around = union(names.flatMap((name) => scene.rect(name) ?? []));
  return around ? { x: around.x, y: around.y + around.height + GAP } : { x: 0, y: 0 };
}

/** Takes a graph in, or asks how. Answers false when the text is none. */
export function importGraph(
  text: string,
  { name, place, open }: { name?: string; place?: Point; open?: () => void } = {},
): boolean {
  const records = readGraph(text);
  if (records === null) return false;
  const own = records.find(({ id }) => id === "doc")?.value as { name?: unknown } | undefined;
  const corners = records
    .filter(({ id }) => id.startsWith("layout:"))
    .flatMap(({ value }) => positionOf(value) ?? []);
  const coming: Coming = {
    name: name ?? (typeof own?.name === "string" ? own.name : ""),
    records,
    clashes: clashesOf(doc, records),
    place: scene.filed(place ? clearForAll(place, corners) : placeBeside()),
    open,
  };
  if (open !== undefined || coming.clashes.nodes.length > 0) useComing.setState({ coming });
  else merge(coming, "beside");
  return true;
}

/** Takes the graph in as one step of undo, and shows what came. */
export function merge(coming: Coming, how: Merging): void {
  const { patch, names } = mergeGraph(doc, coming.records, how, coming.place, knownKinds());
  if (!edit(t("import.edit", { name: coming.name }), patch)) {
    showToast({ tone: "info", text: t("import.same") });
    return;
  }
  setCanvas({ lines: [] });
  useSession.getState().select({ nodes: names });
  // The cards are placed first, then the inspector takes its room.
  requestAnimationFrame(() => requestAnimationFrame(() => runCommand("view.fitSelection")));
}
