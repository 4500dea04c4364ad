/** A picture of the open graph, as it is on the canvas, with everything that is folded there. */
import { readOverlay } from "../../debugger/overlay/overlay";
import { kindOf } from "../kinds";
import { someFolded } from "../folds";
import { scene, unfolded } from "../scene";
import { coloursOf, type Theme } from "./colours";
import { iconId, markId, symbols } from "./icons";
import { drawGraph, type Drawn } from "./svg";
import { windowMeasure } from "./texts";

export { graphInPng, graphInSvg, isPng, pngWithGraph, svgWithGraph, type Carried } from "./carried";
export { base64, pngOf, pngScale, withFonts } from "./png";
export type { Theme } from "./colours";
export type { Drawn } from "./svg";

/** Draws the open graph; null when it is empty. `marks` adds what the run that is shown has done. */
export function drawOpenGraph(theme: Theme, marks: boolean): Drawn | null {
  const drawing = {
    kindOf,
    overlay: marks ? readOverlay() : null,
    colours: coloursOf(theme),
    measure: windowMeasure(),
    glyphs: { symbols, iconId, markId },
  };
  return someFolded()
    ? unfolded((whole) => drawGraph({ ...drawing, scene: whole }))
    : drawGraph({ ...drawing, scene });
}

/** Does the run that is shown leave marks on the graph? */
export function hasMarks(): boolean {
  const { nodes } = readOverlay();
  return [...nodes.values()].some(({ state, runs }) => state !== "idle" || runs > 0);
}
