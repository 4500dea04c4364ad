export { ChangesPanel } from "./ChangesPanel";
export { ConflictView, useConflicted } from "./ConflictView";
export { changesNow, followGit, useGit } from "./git";
