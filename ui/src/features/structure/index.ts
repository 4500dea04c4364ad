export { BlockDialog } from "./BlockDialog";
export { ExtractDialog } from "./ExtractDialog";
export { ImportDialog } from "./ImportDialog";
