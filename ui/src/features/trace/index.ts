/** What ran when in a thread, and what it cost. */
export { registerTraceCommands } from "./commands";
export { HeatLegend } from "./HeatLegend";
export { TracePanel } from "./TracePanel";
