/** What a node did last, and its breakpoints; a part of the inspector. */
export { LastRun } from "./LastRun";
export { NodeTest } from "./NodeTest";
