/** What can be added to a graph: node kinds, patterns, blocks, and the graphs of the folder, which run as one node. */
import { useEffect, useMemo, useState } from "react";
import { addGraph } from "../../canvas/actions";
import {
  BLOCKS,
  forgetBlocks,
  listBlocks,
  readBlock,
  useBlocks,
  type Block,
} from "../../document/block-files";
import { doc, useDocumentState } from "../../document/store";
import { nodeOf, NOTE, START, type JsonObject } from "../../document/types";
import type { WireEnd } from "../../document/wire-fit";
import type { Example } from "../../ipc/bindings/Example";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { rpc } from "../../ipc/client";
import { splitPath } from "../../lib/path";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import { useFavourites } from "./favourites";
import { kindGroups } from "./groups";
import { neighbours, ranked, shapeWords, type Beside, type Findable } from "./ranking";
import { countUse, readCounts } from "./use-counts";

export interface Addable extends Findable {
  readonly id: string;
  readonly icon: string;
  /** The heading it stands below while nothing is searched for. */
  readonly group: string;
  /** The graph that is added, to be looked at first. */
  readonly picture?: Example["records"];
  readonly add:
    | { readonly kind: string; readonly config?: JsonObject }
    | { readonly pattern: Example }
    | { readonly block: Block };
}

/** Adds what was chosen; a node goes where `pick` puts it. */
export function addChosen(
  { id, add }: Addable,
  pick: (kind: string, config: JsonObject | undefined) => void,
): void {
  countUse(id);
  if ("pattern" in add) addGraph(add.pattern.name, add.pattern.records);
  else if ("block" in add)
    readBlock(add.block).then((records) => addGraph(add.block.name, records, "block"), showProblem);
  else pick(add.kind, add.config);
}

const NO_KINDS: readonly NodeKind[] = [];
const NO_EXAMPLES: readonly Example[] = [];
const NO_BLOCKS: readonly Block[] = [];
const NONE: readonly string[] = [];
const GRAPH = "graph";
/** A kind that a person has marked counts as one that is added often. */
const FAVOURITE = 100;

/** The number of kinds that come first in the list for a wire. */
const MOST_USUAL = 4;

/** How the new node stands to the one at the other end of its wire. */
const besideOf = ({ side, leaving }: WireEnd): Beside =>
  side === "in" ? "before" : leaving?.way === "error" ? "error" : "after";

function usualGroup(wire: WireEnd, near: string, kinds: readonly NodeKind[]): string {
  const beside = besideOf(wire);
  const title = kinds.find(({ kind }) => kind === near)?.title;
  const kind = title ?? t(near === START ? "forms.start" : "forms.end");
  return beside === "error" ? t("wires.search.error") : t(`wires.search.${beside}`, { kind });
}

/** For a wire only what it can be joined to: kinds that run, and graphs as one node. */
export function useAddable(wire?: WireEnd): readonly Addable[] {
  const kinds = useSession((state) => state.appInfo?.kinds) ?? NO_KINDS;
  const examples = useSession((state) => state.appInfo?.examples) ?? NO_EXAMPLES;
  const favourites = useFavourites((state) => state.kinds);
  const files = useGraphFiles();
  const blocks = useBlocks((state) => state.blocks);
  return useMemo(() => {
    const counts = readCounts();
    const near = wire && (wire.node === START ? START : nodeOf(doc.get(`node:${wire.node}`)).kind);
    const beside =
      wire === undefined || near === undefined
        ? null
        : neighbours([...examples.map((example) => example.records), doc.records()], near, besideOf(wire));
    const ofKinds = kindGroups(kinds)
      .flatMap((group) => group.kinds.map((kind) => ({ kind, group })))
      .filter(({ kind: { kind } }) => wire === undefined || kind !== NOTE)
      .map(({ kind, group }): Addable => ({
        id: `kind:${kind.kind}`,
        group: t("forms.search.new"),
        title: kind.title,
        text: kind.summary,
        words: [kind.kind, ...kind.aliases],
        category: [group.title, group.id],
        icon: kind.icon,
        used: favourites.includes(kind.kind) ? FAVOURITE : counts[`kind:${kind.kind}`],
        fit: beside?.get(kind.kind),
        add: { kind: kind.kind },
      }));
    const graph = kinds.find(({ kind }) => kind === GRAPH);
    const ofFiles = (graph === undefined ? NONE : files).map((file): Addable => ({
      id: `graph:${file}`,
      group: t("forms.search.graphs"),
      title: file.replace(/\.json$/, ""),
      text: t("forms.search.graphText"),
      words: [],
      many: true,
      icon: "workflow",
      used: counts[`graph:${file}`],
      add: { kind: GRAPH, config: { graph: file } },
    }));
    // What an example needs beside its graph would not come along.
    const alone = wire === undefined ? examples.filter((example) => example.alone) : NO_EXAMPLES;
    const ofPatterns = alone.map((pattern): Addable => ({
      id: `pattern:${pattern.id}`,
      group: t("forms.palette.patterns"),
      title: pattern.name,
      text: pattern.summary,
      words: [pattern.id, ...shapeWords(pattern.records)],
      many: true,
      icon: "workflow",
      used: counts[`pattern:${pattern.id}`],
      picture: pattern.records,
      add: { pattern },
    }));
    const ofBlocks = (wire === undefined ? blocks : NO_BLOCKS).map((block): Addable => ({
      id: `block:${block.path}`,
      group: t("blocks.title"),
      title: block.name,
      text: block.description || t("blocks.text"),
      words: block.records === null ? NONE : shapeWords(block.records),
      many: true,
      icon: "blocks",
      used: counts[`block:${block.path}`],
      ...(block.records !== null && { picture: block.records as Example["records"] }),
      add: { block },
    }));
    const inOrder = ranked(ofKinds, "");
    const usual = inOrder.filter(({ fit = 0 }) => fit > 0).slice(0, MOST_USUAL);
    const first = wire && near !== undefined ? usualGroup(wire, near, kinds) : "";
    return [
      ...usual.map((item) => ({ ...item, group: first })),
      ...inOrder.filter((item) => !usual.includes(item)),
      ...ranked(ofPatterns, ""),
      ...ranked(ofBlocks, ""),
      ...ranked(ofFiles, ""),
    ];
    // The wire is one for as long as the search is open.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [kinds, examples, files, blocks, favourites, wire?.node, wire?.side]);
}

/** Graph files beside this one; the blocks of their folder are listed along. */
function useGraphFiles(): readonly string[] {
  const path = useDocumentState((state) => state.path);
  const [files, setFiles] = useState(NONE);
  useEffect(() => {
    setFiles(NONE);
    const folder = path === null ? null : splitPath(path).dir;
    if (useBlocks.getState().folder !== folder) forgetBlocks();
    if (folder === null) return;
    const abort = new AbortController();
    rpc("files.list", { dir: folder }, abort.signal).then(
      ({ entries }) => {
        setFiles(
          entries
            .filter((entry) => entry.isGraph && !entry.isDir && entry.path !== path)
            .map((entry) => entry.name),
        );
        if (entries.some((entry) => entry.isDir && entry.name === BLOCKS))
          void listBlocks(folder, abort.signal);
        else forgetBlocks();
      },
      () => {
        // Without them there are still the kinds.
      },
    );
    return () => abort.abort();
  }, [path]);
  return files;
}
