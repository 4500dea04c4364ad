/** The query desk: moments of all threads, by words and conditions; probes; what an edge would have decided. */
export { addColumn, QueryDialog } from "./QueryDialog";
export { ProbeDialog } from "./ProbeDialog";
export { Reconsider } from "./Reconsider";
export { type Column, MomentRows } from "./MomentRows";
export { queryOf, requestOf } from "./query";
export { createWalk } from "./walk";
export { WalkProgress } from "./SearchProgress";
