/** Invariants: edited in the inspectors, shown with how they stand at the cursor, checked in all threads. */
export { InvariantsSection } from "./InvariantsSection";
export { InvariantList } from "./InvariantList";
export { InvariantKeeper } from "./InvariantKeeper";
export { CheckDialog } from "./CheckDialog";
