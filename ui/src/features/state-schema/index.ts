export { showTypes, TypesDialog } from "./TypesDialog";
export { CHANNELS, REDUCERS } from "./reducers";
export { addStateKey } from "./add-key";
export { DefaultField } from "./DefaultField";
