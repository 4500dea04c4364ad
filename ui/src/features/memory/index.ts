/** Long-term memory: its items, and how they are searched. */
export { MemoryDialog } from "./MemoryDialog";
export { MemorySettings } from "./MemorySettings";
