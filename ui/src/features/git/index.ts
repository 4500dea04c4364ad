export { ChangesPanel } from "./ChangesPanel";
export { ConflictView, useConflicted } from "./ConflictView";
export { followGit, useGit } from "./git";
