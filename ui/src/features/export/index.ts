export { CodeDialog } from "./code/CodeDialog";
export { ExportDialog } from "./ExportDialog";
