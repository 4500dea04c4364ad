/** What screen readers say of the canvas: what was edited or selected, and what a wire says by the pointer. */
import { useEffect } from "react";
import { kindOf } from "../canvas/kinds";
import { readOverlay } from "../debugger/overlay/overlay";
import { errorNode, errorTarget } from "../document/error-ways";
import { disabledOf } from "../document/disabled";
import { watchEdits, type Edited } from "../document/edit-events";
import { doc } from "../document/store";
import { edgeOf, nodeOf } from "../document/types";
import { listed } from "../lib/intl";
import { structureIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { announce, useAnnounced } from "../state/announce";
import { useSession, type Selection } from "../state/session";
import { nameOf, wordsOfEdits } from "./edit-words";

/** Arrow keys run through nodes faster than they can be spoken. */
const PAUSE_MS = 250;

/** One sentence about a selection; empty when nothing is selected. */
function announcement({ nodes, edges }: Pick<Selection, "nodes" | "edges">): string {
  const [node] = nodes;
  const [edge] = edges;
  if (nodes.length + edges.length > 1)
    return listed(
      [
        nodes.length > 0 && tn("forms.many.node", "forms.many.nodes", nodes.length),
        edges.length > 0 && tn("forms.many.edge", "forms.many.edges", edges.length),
      ].filter((part) => part !== false),
    );
  if (node !== undefined) {
    const record = doc.get(`node:${node}`);
    const { kind } = nodeOf(record);
    const state = readOverlay().nodes.get(node)?.state ?? "idle";
    const parts = [
      nameOf(node),
      kindOf(kind)?.title ?? kind,
      disabledOf(record) === null ? "" : t("disabled.badge"),
      state === "idle" ? "" : t(`canvas.state.${state}`),
    ];
    return listed(parts.filter((part) => part !== ""));
  }
  if (edge === undefined) return "";
  const failing = errorNode(doc, edge);
  if (failing !== null)
    return t("canvas.announce.error", { from: failing, to: nameOf(errorTarget(doc, edge) ?? "") });
  const view = edgeOf(doc.get(`edge:${edge}`));
  return t("canvas.announce.edge", {
    from: listed(view.sources.map(nameOf)),
    to: listed(view.targets.map(nameOf)),
  });
}

export function Announcer() {
  const announced = useAnnounced((state) => state.text);
  useEffect(() => {
    let edits: Edited[] = [];
    let selected = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // What was edited is selected too: the edit names it.
    const flush = () => {
      const words = wordsOfEdits(edits);
      if (words !== "") announce(words);
      else if (selected) announce(announcement(useSession.getState().selection));
      edits = [];
      selected = false;
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(flush, PAUSE_MS);
    };
    const stops = [
      watchEdits((edited) => {
        edits.push(edited);
        soon();
      }),
      useSession.subscribe((state, before) => {
        if (state.selection === before.selection) return;
        selected = true;
        soon();
      }),
    ];
    return () => {
      clearTimeout(timer);
      stops.forEach((stop) => stop());
    };
  }, []);
  return (
    <p className="sr-only" aria-live="polite" data-testid={structureIds.announcer}>
      {announced}
    </p>
  );
}
