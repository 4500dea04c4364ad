export { ChangesPanel } from "./ChangesPanel";
export { ConflictView, useConflicted } from "./ConflictView";
export { followGit, useConflict, useGit } from "./git";
