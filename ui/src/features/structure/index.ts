export { ExtractDialog } from "./ExtractDialog";
export { ImportDialog } from "./ImportDialog";
