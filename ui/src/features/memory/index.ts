export { MemoryDialog } from "./MemoryDialog";
