/** Tests of the open graph: made of threads, listed, run and accepted. */
export { MakeTestDialog } from "./MakeTestDialog";
export { TestKeeper } from "./TestKeeper";
export { TestList } from "./TestList";
export { TestsDialog } from "./TestsDialog";
