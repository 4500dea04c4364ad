/** The checkpoints of the selected thread and their forks. */
export { branchCause, branchName, branchSteps } from "./Branches";
export { goToStep, registerMomentCommands } from "./commands";
export { checkpointEntries, whatHappened } from "./entries";
export { Playback } from "./Playback";
export { TimelinePanel } from "./TimelinePanel";
