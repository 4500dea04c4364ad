/** What ran when in a thread, and what it cost. */
export { TracePanel } from "./TracePanel";
