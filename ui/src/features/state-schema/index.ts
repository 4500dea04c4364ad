export { showTypes, TypesDialog } from "./TypesDialog";
export { exchanged, usageOf } from "./usage";
