export { showTypes, TypesDialog } from "./TypesDialog";
