/** Commands for what is selected: putting it in line, and selecting what comes before and after it. */
import { moveNodes } from "../document/edits";
import { namingKinds } from "../document/node-references";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { positionOf } from "../document/types";
import { t } from "../lib/texts";
import type { Command } from "../state/commands";
import { useSession } from "../state/session";
import { arrange, type Arrangement } from "./align";
import { reached, type Along } from "./along";
import { notePlaced } from "./by-hand";
import type { Rect } from "./geometry";
import { hiddenNow, showAllWires, toggleNodes, toggleOthers } from "./hidden-wires";
import { knownKinds } from "./kinds";
import { withFolded } from "./notes";
import { scene } from "./scene";
import { setCanvas } from "./store";
import { movable, placesFor } from "./wiring";

const ARRANGEMENTS: readonly Arrangement[] = [
  "left",
  "center",
  "right",
  "top",
  "middle",
  "bottom",
  "across",
  "down",
];
const ALONG: readonly Along[] = ["upstream", "downstream", "connected"];

const selected = () => useSession.getState().selection.nodes;

/** Those that have a place in the file; the others stand where it is computed. */
function boxes(names: readonly string[]): Map<string, Rect> {
  return new Map(
    names.flatMap((name) => {
      const rect = scene.standing(name);
      return rect && scene.shown(name) === name && positionOf(doc.get(`layout:${name}`))
        ? [[name, rect] as const]
        : [];
    }),
  );
}

/** Puts the selected nodes in line. */
export function align(how: Arrangement): void {
  const places = withFolded(scene, arrange(boxes(selected()), how));
  edit(t(`forms.many.${how}`), (document) => moveNodes(document, places));
  notePlaced(doc, places.keys());
}

function selectAlong(along: Along): void {
  const { leads } = useDocumentState.getState();
  setCanvas({ lines: [] });
  useSession.getState().select({
    nodes: reached(doc, selected(), along, namingKinds(knownKinds()), leads),
  });
}

/** Asks where the wires that lead into the selected node, or leave it, shall go. */
function askMove(side: "in" | "out"): void {
  const [node = ""] = selected();
  const lines = movable(node, side);
  const screen = { x: window.innerWidth / 2 - 150, y: 120 };
  const wire = { node, side: side === "in" ? ("out" as const) : ("in" as const) };
  setCanvas({
    search: { screen, place: screen, wire, moving: { lines, places: placesFor(lines, node, side) } },
  });
}

export function selectionCommands(): Command[] {
  const group = t("shell.group.edit");
  return [
    {
      id: "view.hideWires",
      title: t("wires.hide.others"),
      group: t("shell.group.view"),
      run: toggleOthers,
    },
    {
      id: "view.hideNodeWires",
      title: t("wires.hide.node"),
      group: t("shell.group.view"),
      enabled: () => selected().length > 0,
      run: () => toggleNodes(selected()),
    },
    {
      id: "view.showWires",
      title: t("wires.hide.none"),
      group: t("shell.group.view"),
      enabled: () => hiddenNow().others || hiddenNow().nodes.length > 0,
      run: showAllWires,
    },
    ...(["in", "out"] as const).map((side) => ({
      id: `wires.move.${side}`,
      title: t(`wires.move.${side}`),
      group,
      enabled: () => selected().length === 1 && movable(selected()[0] ?? "", side).length > 0,
      run: () => askMove(side),
    })),
    ...ARRANGEMENTS.map((how) => ({
      id: `align.${how}`,
      title: t(`forms.many.${how}`),
      group,
      enabled: () => selected().length > 1,
      run: () => align(how),
    })),
    ...ALONG.map((along) => ({
      id: `select.${along}`,
      title: t(`canvas.select.${along}`),
      group,
      enabled: () => selected().length > 0,
      run: () => selectAlong(along),
    })),
  ];
}
