export { ExtractDialog } from "./ExtractDialog";
