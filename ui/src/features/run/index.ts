/** Run controls, the run form's panel, and the question before a run from the past. */
export { EffectsDialog } from "./EffectsDialog";
export { RunControls } from "./RunControls";
export { RunPanel } from "./RunPanel";
export { HotEditDialog } from "./HotEditDialog";
