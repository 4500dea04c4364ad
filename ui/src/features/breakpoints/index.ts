/** The breakpoints of the open graph: their list, and the dialog that changes one. */
export { BREAKPOINT_PLACES, BreakpointList } from "./BreakpointList";
export { BreakpointDialog } from "./BreakpointDialog";
