/** Run controls and the run form's panel. */
export { RunControls } from "./RunControls";
export { RunPanel } from "./RunPanel";
