/** The checkpoints of the selected thread and their forks. */
export { TimelinePanel } from "./TimelinePanel";
