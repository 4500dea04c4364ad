/** Two checkpoints side by side. */
export { ComparePanel } from "./ComparePanel";
