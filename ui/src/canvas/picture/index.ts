/** A picture of the open graph, as it is on the canvas. */
import { readOverlay } from "../../debugger/overlay/overlay";
import { kindOf } from "../kinds";
import { scene } from "../scene";
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
  return drawGraph({
    scene,
    kindOf,
    overlay: marks ? readOverlay() : null,
    colours: coloursOf(theme),
    measure: windowMeasure(),
    glyphs: { symbols, iconId, markId },
  });
}

/** Does the run that is shown leave marks on the graph? */
export function hasMarks(): boolean {
  const { nodes } = readOverlay();
  return [...nodes.values()].some(({ state, runs }) => state !== "idle" || runs > 0);
}
