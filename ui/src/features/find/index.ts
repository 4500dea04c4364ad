export { FindDialogs } from "./FindDialogs";
export { FindPanel } from "./FindPanel";
export { askRename } from "./RenameDialog";
