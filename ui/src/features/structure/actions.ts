/** Makes a graph file of selected nodes, and brings the nodes of a nested graph back in. */
import { create } from "zustand";
import { knownKinds } from "../../canvas/kinds";
import { scene } from "../../canvas/scene";
import { GraphDocument } from "../../document/document";
import { extract, type ExtractionChoice } from "../../document/extract";
import { planExtraction, type Extraction, type Refusal } from "../../document/extraction";
import { inlineGraph } from "../../document/inline";
import { writeGraph } from "../../document/graph-files";
import { namingKinds } from "../../document/node-references";
import { nestedGraphOf, openNestedGraph } from "../../document/nested-graphs";
import { doc, useDocumentState } from "../../document/store";
import { edit } from "../../document/edit";
import { flush } from "../../document/open-graph";
import { END, START, type Json } from "../../document/types";
import { usageOf } from "../../document/usage";
import { rpc } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { joinPath, splitPath } from "../../lib/path";
import { t } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";

/** The extraction that the dialog asks about. */
export const useExtraction = create<{ readonly plan: Extraction | null }>(() => ({ plan: null }));

export const selectedNodes = () =>
  useSession
    .getState()
    .selection.nodes.filter((name) => name !== START && name !== END && doc.has(`node:${name}`));

function around() {
  const kinds = knownKinds();
  return {
    usage: usageOf(doc, kinds),
    schemas: namingKinds(kinds),
    leads: useDocumentState.getState().leads,
  };
}

function refused(what: "extract" | "inline", { refused: reason, names }: Refusal): void {
  const quoted = listed(names.map((name) => `“${name}”`));
  showToast({
    tone: "problem",
    text: t(`structure.refuse.${what}`),
    detail: t(`structure.refuse.${reason}`, { names: quoted }),
  });
}

/** The folder of the open graph; a draft has none, and is to be saved first. */
export function folderOrSay(help: string): string | null {
  const { path } = useDocumentState.getState();
  if (path !== null) return splitPath(path).dir;
  showToast({
    tone: "problem",
    text: t("structure.draft"),
    detail: help,
    action: { label: t("structure.draft.save"), run: () => void runCommand("graph.save") },
  });
  return null;
}

/** Asks how the selected nodes become a graph, or says why they cannot. */
export function askExtraction(): void {
  if (folderOrSay(t("structure.draft.help")) === null) return;
  const plan = planExtraction(doc, selectedNodes(), around());
  if ("refused" in plan) refused("extract", plan);
  else useExtraction.setState({ plan });
}

/** Writes the new graph, then puts its node in the place of the others. Throws when the file cannot be written. */
export async function extractNodes(plan: Extraction, choice: ExtractionChoice): Promise<void> {
  const { path } = useDocumentState.getState();
  if (path === null) return;
  await flush();
  const { outer, inner } = extract(doc, plan, choice, (name) => scene.position(name));
  await writeGraph(joinPath(splitPath(path).dir, choice.file), choice.name, inner);
  if (!edit(t("structure.extract.edit", { name: choice.node }), outer)) return;
  useSession.getState().select({ nodes: [choice.node] });
  showToast({
    tone: "done",
    text: t("structure.extract.done", { file: choice.file }),
    detail: t("structure.extract.undo"),
    action: { label: t("structure.extract.open"), run: () => void openNestedGraph(choice.node) },
  });
}

/** The selected node that can be replaced by what its graph holds. */
export function nestedSelected(): string | null {
  const [name, ...others] = selectedNodes();
  return name !== undefined && others.length === 0 && nestedGraphOf(name) !== null ? name : null;
}

export async function inlineSelected(): Promise<void> {
  const node = nestedSelected();
  const { graphId, path } = useDocumentState.getState();
  if (node === null || graphId === null || path === null) return;
  try {
    await flush();
    const view = await rpc("graph.inside", { graphId, path: [node] });
    const inner = new GraphDocument();
    inner.reset(view.records as { id: string; value: Json }[]);
    const elsewhere = splitPath(view.path ?? path).dir !== splitPath(path).dir;
    const made = inlineGraph(doc, node, inner, { ...around(), elsewhere });
    if ("refused" in made) refused("inline", made);
    else if (edit(t("structure.inline.edit", { name: node }), made.patch))
      useSession.getState().select({ nodes: made.names });
  } catch (thrown) {
    showProblem(thrown);
  }
}
