/** Threads of the open graph, and its breakpoints. */
export { ThreadsPanel } from "./ThreadsPanel";
