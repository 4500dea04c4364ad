export { ExportDialog } from "./ExportDialog";
