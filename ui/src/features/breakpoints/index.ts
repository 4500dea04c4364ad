/** The breakpoints of the open graph: their list, and the dialog that changes one. */
export { BreakpointList } from "./BreakpointList";
export { BreakpointDialog } from "./BreakpointDialog";
