export { FindDialogs } from "./FindDialogs";
export { FindPanel } from "./FindPanel";
export { placeOf } from "./places";
