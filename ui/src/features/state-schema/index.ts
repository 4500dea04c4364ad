export { showTypes, TypesDialog } from "./TypesDialog";
export { addStateKey } from "./add-key";
