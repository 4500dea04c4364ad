/** The branches of the selected thread as a map. */
export { ForksPanel } from "./ForksPanel";
