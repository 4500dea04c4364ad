/** Versions of the open graph: those of runs and of saves in one list, named, shown, compared and restored. */
export { restoreVersion } from "./actions";
export { VersionsPanel } from "./VersionsPanel";
