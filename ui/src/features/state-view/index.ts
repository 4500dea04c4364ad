/** The state at the cursor, its tasks, and editing it. */
export { StateInspector } from "./StateInspector";
export { StaleKeeper } from "./StaleKeeper";
