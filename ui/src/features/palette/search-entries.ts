/** What the search over the canvas lists: what can be added, and for a wire the nodes that it can be joined to. */
import { useMemo } from "react";
import type { NodeSearchProps } from "../../canvas/NodeSearchSlot";
import { doc } from "../../document/store";
import { END, nodeOf, START } from "../../document/types";
import { fittingNodes, refusalOf } from "../../document/wire-fit";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { addChosen, useAddable, type Addable } from "./addable";
import { hintEntries } from "./hints";
import type { Findable } from "./ranking";

export interface Entry extends Findable {
  readonly id: string;
  readonly group: string;
  readonly icon: string;
  readonly picture?: Addable["picture"];
  readonly add?: Addable["add"];
  /** The search stays open when it is chosen. */
  readonly stays?: boolean;
  run(): void;
}

const NO_WORDS: readonly string[] = [];

export function useEntries({ fromWire, places, onPick, onConnectTo }: NodeSearchProps): readonly Entry[] {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const addable = useAddable(fromWire);
  return useMemo<Entry[]>(() => {
    const made = addable.map((item) => ({ ...item, run: () => addChosen(item, onPick) }));
    if (!fromWire || !onConnectTo) return [...made, ...hintEntries()];
    const iconOf = (node: string) =>
      kinds?.find((kind) => kind.kind === nodeOf(doc.get(`node:${node}`)).kind)?.icon ?? "box";
    const existing = (id: string, title: string, text: string, icon: string, node: string): Entry => ({
      id,
      group: t("forms.search.existing"),
      title,
      text,
      words: NO_WORDS,
      isThere: true,
      icon,
      run: () => onConnectTo(node),
    });
    const end =
      fromWire.side === "out"
        ? existing("end", t("forms.end"), t("forms.search.endText"), END, END)
        : existing("start", t("forms.start"), t("forms.search.startText"), START, START);
    if (places)
      return places.map((node) =>
        node === END || node === START ? end : existing(`node:${node}`, node, "", iconOf(node), node),
      );
    const ends = refusalOf(doc, fromWire, end.icon) === null ? [end] : [];
    const there = fittingNodes(doc, fromWire).map((node) =>
      existing(
        `node:${node}`,
        node,
        node === fromWire.node ? t("forms.search.itself") : "",
        iconOf(node),
        node,
      ),
    );
    return [...made, ...ends, ...there];
  }, [addable, kinds, fromWire, places, onPick, onConnectTo]);
}
