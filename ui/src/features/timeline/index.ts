/** The checkpoints of the selected thread and their forks. */
export { goToStep, registerMomentCommands } from "./commands";
export { TimelinePanel } from "./TimelinePanel";
